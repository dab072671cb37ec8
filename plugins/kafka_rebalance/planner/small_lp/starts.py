"""Where a search of a small cluster may start: roundings of linear programs, as they are needed.

The first one is for the bands themselves; what it splits is then decided in whole numbers. Then the heavier half of
what it splits is decided and the rest solved anew (a dive: what is heavy goes first, the rest can make up for it), and
the same for bands a little narrower, which leave room for rounding.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kafka_rebalance.planner.problem import Floats, Problem
from kafka_rebalance.planner.replicas.replica_sets import ReplicaSets
from kafka_rebalance.planner.small_lp.arcs import arcs_of
from kafka_rebalance.planner.small_lp.relaxation import relax
from kafka_rebalance.planner.small_lp.rounding import decided_by, rounded
from kafka_rebalance.planner.small_lp.whole_rest import whole_rest
from kafka_rebalance.planner.state import resource_scale
from kafka_rebalance.planner.working_bands import WorkingBands

# Shares of the mean by which bands are narrowed.
SHRINKS = (0.0, 0.002, 0.005)
DIVES = 1
# With more arcs than this one program is all that is solved.
FEW_ARCS = 25_000


@dataclass(frozen=True, slots=True, eq=False)
class Start:
    """Replica sets to search from; ``prices`` float64[B, D] of the program for the problem's own bands, else None."""

    sets: ReplicaSets
    prices: Floats | None


def program_starts(problem: Problem, sets: ReplicaSets, bands: WorkingBands, reached: Floats) -> Iterator[Start]:
    """Starts, the likeliest first. ``reached`` float64[B, D]: loads of a plan; where no shares meet the bands, they are
    widened to those.
    """
    arcs, scale = arcs_of(problem), resource_scale(problem)
    low, high = bands.low, bands.high
    shrinks, dives = (SHRINKS, DIVES) if len(arcs.row) <= FEW_ARCS else (SHRINKS[:1], 0)
    relaxed = relax(problem, arcs, low, high)
    prices = None if relaxed is None else relaxed.prices
    if relaxed is None:
        low, high = np.minimum(low, reached), np.maximum(high, reached)
    for shrink in shrinks:
        lowest, highest = low + shrink * scale * (low > 0), high - shrink * scale
        if prices is None or shrink > 0:
            relaxed = relax(problem, arcs, lowest, highest)
        decided = np.full(len(arcs.row), np.nan)
        for dive in range(1 + dives):
            if relaxed is None:
                break
            start = rounded(problem, sets, arcs, relaxed.share)
            yield Start(start, prices if shrink == 0 and dive == 0 else None)
            if shrink == 0 and dive == 0:
                whole = whole_rest(problem, arcs, relaxed, lowest, highest)
                if whole is not None:
                    yield Start(rounded(problem, sets, arcs, whole), None)
            if dive < dives:
                decided = decided_by(problem, arcs, relaxed.share, start.replicas, decided)
                relaxed = relax(problem, arcs, lowest, highest, decided)
