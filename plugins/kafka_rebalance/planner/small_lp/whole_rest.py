"""What a linear program splits, decided in whole numbers together with what may change its mind at the least cost.

A vertex of the program splits about as many partitions as rows of loads are tight. Rounding each of them for itself
takes loads out of their bands; here the split ones and the cheapest to change are chosen together, the others stay as
the program has them.

Branch and bound by HiGHS within ``NODES`` nodes, ended at ``GAP`` of the cost. Deterministic: one thread, no clock.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import Bounds, LinearConstraint, milp

from kafka_rebalance.planner.problem import Floats, Problem
from kafka_rebalance.planner.small_lp.arcs import Arcs
from kafka_rebalance.planner.small_lp.relaxation import Relaxed, Rows, capacity_rows, load_rows, rack_rows
from kafka_rebalance.planner.state import Longs, resource_scale

# Arcs left open, at most; the others are as the linear program has them.
OPEN_ARCS = 2_000
NODES = 60
GAP = 1e-3
WHOLE = 1e-7
# HiGHS may miss a row by 1e-6; bands are kept to 1e-9.
TOLERANCE = 2e-6


def whole_rest(problem: Problem, arcs: Arcs, relaxed: Relaxed, low: Floats, high: Floats) -> Floats | None:
    """Shares float64[A], all 0 or 1, within low..high float64[B, all D].

    None where nothing is split, or none were found.
    """
    open_rows = _open_rows(problem, arcs, relaxed)
    if not len(open_rows):
        return None
    is_open = np.isin(arcs.row, open_rows)
    fixed = np.round(relaxed.share)
    rows = Rows(len(arcs.row))
    slack = TOLERANCE * resource_scale(problem)
    load_rows(problem, arcs, low + slack * (low > 0), high - slack, rows)
    capacity_rows(problem, arcs, rows)
    rack_rows(problem, arcs, rows)
    free, line = np.unique(arcs.row, return_inverse=True)
    every: Any = sp.csr_matrix((np.ones(len(line)), (line, np.arange(len(line)))), (len(free), len(line)))
    wanted = problem.target_rf[free].astype(np.float64)
    matrix: Any = sp.vstack(rows.blocks).tocsr()
    # Only what is open stands in the program; what is fixed is taken off the right-hand sides.
    some = np.flatnonzero(is_open)
    most = np.concatenate(rows.most) - matrix[:, ~is_open] @ fixed[~is_open]
    mine = np.isin(free, open_rows)
    answer = milp(
        arcs.cost[some],
        integrality=np.ones(len(some), dtype=np.int64),
        bounds=Bounds(np.zeros(len(some)), np.ones(len(some))),
        constraints=[
            LinearConstraint(matrix[:, some], -np.inf, most),
            LinearConstraint(every[mine][:, some], wanted[mine], wanted[mine]),
        ],
        options={"mip_rel_gap": _gap(arcs, fixed, is_open), "node_limit": NODES},
    )
    if answer.x is None:
        return None
    share = fixed
    share[some] = np.round(answer.x)
    return share


def _gap(arcs: Arcs, fixed: Floats, is_open: Any) -> float:
    """``GAP`` of the whole cost, as a share of what is open."""
    whole, rest = float(arcs.cost @ fixed), float(arcs.cost[is_open] @ fixed[is_open])
    return GAP * whole / max(rest, 1e-12 + 0.05 * whole)


def _open_rows(problem: Problem, arcs: Arcs, relaxed: Relaxed) -> Longs:
    """Partitions that are split, then those with the arc that would change at the least cost."""
    is_split = (relaxed.share > WHOLE) & (relaxed.share < 1 - WHOLE)
    split = np.unique(arcs.row[is_split])
    if not len(split):
        return split
    least = np.full(problem.partition_count, np.inf)
    np.minimum.at(least, arcs.row, np.where(relaxed.regret > 0, relaxed.regret, np.inf))
    least[split] = -1.0
    # Small ones are cheap to change and fill what is left; large ones that hardly care are as needful.
    ranks = [np.argsort(np.argsort(each, kind="stable")) for each in (least, least / problem.move_bytes.clip(1.0))]
    ranked = np.argsort(np.minimum(*ranks), kind="stable")
    ranked = ranked[np.isfinite(least[ranked])]
    arcs_of_row = np.bincount(arcs.row, minlength=problem.partition_count)
    kept = np.searchsorted(np.cumsum(arcs_of_row[ranked]), OPEN_ARCS)
    return np.asarray(ranked[: max(int(kept), len(split))], dtype=np.int64)
