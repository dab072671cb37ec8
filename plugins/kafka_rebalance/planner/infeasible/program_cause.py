"""Where no count of one place proves it: the linear program of all copies, with disk to be bought.

    minimise Σ bought    over all ways to place what must be placed, each disk at its limit and what is bought for it

What is above 0 must be bought by anybody: replicas that may be cut into pieces fit no better. The brokers whose price
is 1 are the ones that it must be bought for (Farkas' certificate, added up).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.planner.infeasible.cause import Cause
from kafka_rebalance.planner.infeasible.counted_causes import place_of
from kafka_rebalance.planner.infeasible.forced_copies import ForcedCopies
from kafka_rebalance.planner.linear_program.arcs import arcs_of, is_small
from kafka_rebalance.planner.linear_program.relaxation import Rows, rack_rows
from kafka_rebalance.planner.params import DEFAULTS, LinearProgramParams


def program_cause(
    problem: Problem, forced: ForcedCopies, params: LinearProgramParams = DEFAULTS.linear_program
) -> Cause | None:
    """None where copies cut into pieces would fit, or the cluster is too large for the program."""
    if not is_small(problem, params.arcs):
        return None
    arcs = arcs_of(problem, params.arcs)
    bounded = np.flatnonzero(problem.takes_replicas & np.isfinite(forced.limit))
    count, unit = len(arcs.row), max(float(forced.size.max(initial=0.0)), 1.0)
    if not count or not len(bounded):
        return None
    rows = Rows(count + len(bounded))
    new = np.flatnonzero(~arcs.is_kept & np.isin(arcs.broker, bounded))
    line = np.searchsorted(bounded, arcs.broker[new])
    own = np.arange(len(bounded))
    factor = np.concatenate([forced.size[arcs.row[new]] / unit, -np.ones(len(bounded))])
    rows.add(np.concatenate([line, own]), np.concatenate([new, count + own]), factor, forced.free[bounded] / unit)
    if (problem.takes_replicas == problem.stays).all():
        rack_rows(problem, arcs, rows)
    free = np.flatnonzero(~problem.pinned)
    every: Any = sp.csr_matrix(
        (np.ones(count), (np.searchsorted(free, arcs.row), np.arange(count))), (len(free), count + len(bounded))
    )
    top = np.append(np.ones(count), np.full(len(bounded), np.inf))
    box: Any = np.column_stack([np.zeros(rows.variables), top])
    matrix: Any = sp.vstack(rows.blocks).tocsr()
    answer = linprog(
        np.append(np.zeros(count), np.ones(len(bounded))),
        matrix,
        np.concatenate(rows.most),
        every,
        problem.target_rf[free].astype(np.float64),
        bounds=box,
        method="highs",
    )
    if (
        not answer.success
        or answer.fun is None
        or answer.fun * unit <= params.arcs.unused_share * float(forced.size.sum()) + 1
    ):
        return None
    price = -answer.ineqlin.marginals[: len(bounded)]
    brokers, lacking = bounded[price > 1 - params.arcs.unused_share], float(answer.fun) * unit
    if not len(brokers):
        return None
    free_bytes = float(forced.free[brokers].sum())
    cause = fact(
        FactCode.DISKS_LACK_ROOM,
        **place_of(problem, brokers),
        needed_bytes=free_bytes + lacking,
        free_bytes=free_bytes,
        is_by_program=True,
    )
    return Cause(cause, fact(FactCode.ADD_DISK, lacking_bytes=lacking), "disk", brokers, lacking)
