"""Where a search of a small cluster that found no way into its bands may start: roundings of linear programs.

The first one is for the bands themselves. Then the heavier half of what it splits is decided and the rest solved anew
(a dive: what is heavy goes first, the rest can make up for it), and the same for bands a little narrower, which leave
slack for rounding.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kafka_rebalance.arrays import Floats
from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.planner.linear_program.arcs import Arcs
from kafka_rebalance.planner.linear_program.relaxation import Relaxed, relax
from kafka_rebalance.planner.linear_program.rounding import decided_by, rounded
from kafka_rebalance.planner.params import DEFAULTS, LinearProgramParams
from kafka_rebalance.planner.scales import resource_scale
from kafka_rebalance.planner.state import ReplicaSets
from kafka_rebalance.planner.working_bands import WorkingBands


def program_starts(
    problem: Problem,
    sets: ReplicaSets,
    arcs: Arcs,
    relaxed: Relaxed | None,
    bands: WorkingBands,
    reached: Floats,
    params: LinearProgramParams = DEFAULTS.linear_program,
) -> Iterator[ReplicaSets]:
    """Starts, the likeliest first. ``relaxed`` is the program of ``bands``; where there is none, they are widened to
    ``reached`` float64[B, D], the loads of a plan.
    """
    scale = resource_scale(problem)
    low, high = bands.low, bands.high
    limits = params.starts
    shrinks, dives = limits.shrinks, limits.dives
    if len(arcs.row) > limits.few_arcs:
        shrinks, dives = shrinks[:1], 0
    if relaxed is None:
        low, high = np.minimum(low, reached), np.maximum(high, reached)
        relaxed = relax(problem, arcs, low, high)
    for shrink in shrinks:
        lowest, highest = low + shrink * scale * (low > 0), high - shrink * scale
        if shrink > 0:
            relaxed = relax(problem, arcs, lowest, highest)
        decided = np.full(len(arcs.row), np.nan)
        for dive in range(1 + dives):
            if relaxed is None:
                break
            start = rounded(problem, sets, arcs, relaxed.share, params.arcs)
            yield start
            if dive < dives:
                decided = decided_by(problem, arcs, relaxed.share, start.replicas, decided, params.arcs)
                relaxed = relax(problem, arcs, lowest, highest, decided)
