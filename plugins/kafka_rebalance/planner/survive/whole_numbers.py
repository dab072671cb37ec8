"""Several changes at once, decided in whole numbers, where none by itself takes anything off.

    minimise what is above capacities over all brokers and losses, then copies, then leader changes, then orders
    over x (a change is made) in 0 or 1, at most one a partition; hard limits and the budget hold

What brokers carry after losses is a sum over partitions, so changes of different partitions add up exactly. Where the
changes are all there are (``all_changes``) and something stays above, nothing helps: that is a proof.

Example: broker 1 takes over 3 of 0 and can carry 2 more, broker 2 takes over 2 of 0 and can carry 3: exchanging the two
helps, neither alone does.

Branch and bound by HiGHS: exponential at worst, hence only so many nodes and sums. Deterministic: one thread, no clock.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
import scipy.sparse as sp
from scipy.optimize import Bounds, LinearConstraint, milp

from kafka_rebalance.arrays import NOBODY, Flags, Floats, Longs
from kafka_rebalance.planner.params import SurviveParams
from kafka_rebalance.planner.survive.changes import Means, allowed, arranged, joined
from kafka_rebalance.planner.survive.loss_arrays import Change, LossArrays
from kafka_rebalance.planner.survive.loss_state import LossState
from kafka_rebalance.planner.tolerances import PROGRAM_MARGIN, PROGRAM_WHOLE


@dataclass(frozen=True, slots=True, eq=False)
class Costs:
    """What each of K changes adds: int64[K] copies, float64[K] bytes, int64[K] leader changes; and what is left of each
    (inf: anything).
    """

    copies: Longs
    copied_bytes: Floats
    leader_changes: Longs
    left: tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Chosen:
    """Which changes to make; ``least_above``: no choice among them leaves less above capacities (shares, summed)."""

    changes: tuple[int, ...]
    least_above: float


def best_choice(state: LossState, options: Change, costs: Costs, params: SurviveParams) -> Chosen | None:
    """None where it is too large, or no choice was found within the nodes."""
    arrays, count = state.arrays, len(options)
    if not count or count * params.touched_brokers * arrays.groups * len(arrays.guarded) > params.program_cells:
        return None
    blocks, most = _loss_rows(state, options)
    above = len(most)
    limit_rows, limit_most = _limit_rows(state, options)
    budget = sp.csr_array(np.stack([costs.copies, costs.copied_bytes, costs.leader_changes]).astype(np.float64))
    is_limited = np.isfinite(costs.left)
    _, of_row = np.unique(options.rows, return_inverse=True)
    one_each = sp.csr_array((np.ones(count), (of_row, np.arange(count))))
    plain = sp.vstack([limit_rows, budget[is_limited], one_each])
    rows = sp.vstack([
        sp.hstack([blocks, -sp.identity(above)]), sp.hstack([plain, sp.csr_array((plain.shape[0], above))]),
    ])  # fmt: skip
    values = np.concatenate([most, limit_most, np.array(costs.left)[is_limited], np.ones(one_each.shape[0])])
    price = np.maximum(costs.copies, 0) * params.copy_worth + params.order_worth
    price += np.maximum(costs.leader_changes, 0) * params.leader_worth
    answer = milp(
        np.concatenate([price / count, np.full(above, params.above_worth)]),
        integrality=np.concatenate([np.ones(count, dtype=np.int64), np.zeros(above, dtype=np.int64)]),
        bounds=Bounds(0.0, np.concatenate([np.ones(count), np.full(above, np.inf)])),
        constraints=[LinearConstraint(sp.csr_array(rows), -np.inf, values)],
        options={"mip_rel_gap": params.program_gap, "node_limit": params.program_nodes},
    )
    if answer.x is None:
        return None
    least = 0.0 if answer.mip_dual_bound is None else float(answer.mip_dual_bound) / params.above_worth
    return Chosen(tuple(np.flatnonzero(answer.x[:count] > PROGRAM_WHOLE).tolist()), least)


def all_changes(state: LossState, means: Means, most: int) -> Change | None:
    """Every way to place each partition that may be changed, but as it is; None where these are more than ``most``."""
    arrays = state.arrays
    rows = np.flatnonzero(arrays.may_change)
    if means is not Means.REPLICAS:
        change = allowed(arranged(rows, state.lists[rows]), state, means) if len(rows) * 12 <= most else None
        return change if change is not None and len(change) else None
    open_to = np.flatnonzero(arrays.takes_replicas)
    width = state.lists.shape[1]
    factors = (state.lists[rows] >= 0).sum(axis=1)
    if sum(comb(len(open_to), factor) * factor * max(factor - 1, 1) for factor in factors.tolist()) > most:
        return None
    found = []
    for factor in np.unique(factors).tolist():
        mine = rows[factors == factor]
        for members in combinations(open_to.tolist(), factor):
            lists = np.full((len(mine), width), NOBODY, dtype=np.int32)
            lists[:, :factor] = members
            fits = _is_spread(arrays, state, mine, members) & _may_be_on(arrays, mine, members)
            found.append(arranged(mine[fits], _in_own_order(state, mine, lists)[fits]))
    return allowed(joined(found), state, means) if found else None


def _in_own_order(state: LossState, rows: Longs, lists: np.ndarray) -> np.ndarray:
    """The same sets; a set that is today's keeps its order."""
    now = state.lists[rows]
    is_same = (np.sort(now, axis=1) == np.sort(lists, axis=1)).all(axis=1)
    return np.where(is_same[:, None], now, lists)


def _is_spread(arrays: LossArrays, state: LossState, rows: Longs, members: tuple[int, ...]) -> Flags:
    """bool[K]: on as many racks as the list is now, or more."""
    lists = state.lists[rows]
    racks = np.sort(np.where(lists >= 0, arrays.rack[lists], NOBODY), axis=1)
    now = 1 + ((racks[:, 1:] != racks[:, :-1]) & (racks[:, :-1] >= 0)).sum(axis=1)
    return np.asarray(len({int(arrays.rack[broker]) for broker in members}) >= now)


def _may_be_on(arrays: LossArrays, rows: Longs, members: tuple[int, ...]) -> Flags:
    if arrays.sets is None:
        return np.ones(len(rows), dtype=np.bool_)
    return np.asarray(arrays.sets.brokers[arrays.sets.of_partition[rows]][:, list(members)].all(axis=1))


def _loss_rows(state: LossState, options: Change) -> tuple[sp.csr_array, Floats]:
    """What the changes add to each broker after each loss, over its capacity, and what there is still capacity for."""
    arrays, touched, count = state.arrays, state.touched(options), len(options)
    brokers = np.unique(touched.broker)
    at = np.searchsorted(brokers, touched.broker)
    resources, groups = len(arrays.guarded), arrays.groups
    share = touched.load[:, arrays.guarded] / arrays.capacity[touched.broker]
    pair, r = np.nonzero(share)
    cell = (at[pair] * resources + r)[:, None] * groups + np.arange(groups)[None, :]
    amount = touched.amount / arrays.capacity[touched.broker[touched.cell]]
    event, er = np.nonzero(amount)
    moved = (at[touched.cell[event]] * resources + er) * groups + touched.lost[event]
    matrix = sp.csr_array(
        (
            np.concatenate([np.repeat(share[pair, r], groups), amount[event, er]]),
            (
                np.concatenate([cell.ravel(), moved]),
                np.concatenate([np.repeat(touched.change[pair], groups), touched.change[touched.cell[event]]]),
            ),
        ),
        shape=(len(brokers) * resources * groups, count),
    )
    ratios = np.stack([state.ratios(int(broker)).T for broker in brokers])
    spare = np.where(ratios >= 0, 1 - PROGRAM_MARGIN - ratios, np.inf).reshape(-1)
    at_most = np.asarray(matrix.maximum(0).sum(axis=1)).reshape(-1)
    needed = np.flatnonzero(at_most > spare)
    return matrix[needed], spare[needed]


def _limit_rows(state: LossState, options: Change) -> tuple[sp.csr_array, Floats]:
    """What the changes add to each broker, and what its hard limits leave."""
    arrays, touched = state.arrays, state.touched(options)
    resources = state.load.shape[1]
    scaled = touched.load / arrays.scale
    pair, d = np.nonzero(scaled)
    matrix = sp.csr_array(
        (scaled[pair, d], (touched.broker[pair] * resources + d, touched.change[pair])),
        shape=(len(state.load) * resources, len(options)),
    )
    limit = np.where(arrays.stays[:, None], np.maximum(arrays.limit, state.load), np.inf)
    spare = ((limit - state.load) / arrays.scale).reshape(-1)
    needed = np.flatnonzero(np.asarray(matrix.maximum(0).sum(axis=1)).reshape(-1) > spare)
    return matrix[needed], spare[needed]
