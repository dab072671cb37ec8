"""Changes that may take something off a broker after a loss: another order, another leader, another replica.

Promises, in order: each change is one that Kafka and the options allow (who may lead, where replicas may be, racks no
worse, followers put in another order only where the list is led by its first); those of partitions that weigh most
come first, then every so many-th of the others, for what is lacking may be little.

Example: broker 1 takes over t-0 [0, 1, 2] when broker 0 is lost. Orders: [0, 2, 1]. Leaders: [1, 0, 2], [1, 2, 0],
[2, 0, 1], [2, 1, 0]. Replicas: those of [0, 3, 2], with a broker 3 that has room.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

import numpy as np

from kafka_rebalance.arrays import NOBODY, Floats, Ints, Longs
from kafka_rebalance.planner.params import SurviveParams
from kafka_rebalance.planner.survive.loss_arrays import Change
from kafka_rebalance.planner.survive.loss_state import LossState


class Means(IntEnum):
    """What may be changed, the cheapest first; each includes those before it."""

    ORDERS = 0
    LEADERS = 1
    REPLICAS = 2


def changes_for(state: LossState, broker: int, means: Means, params: SurviveParams) -> Change:
    """Changes that may relieve ``broker`` where it stands worst. O(P) to find the partitions."""
    ratios = state.ratios(broker)
    lost, r = divmod(int(ratios.argmax()), ratios.shape[1])
    d, arrays = int(state.arrays.guarded[r]), state.arrays
    takes_over = (state.group == lost) & (state.heir == broker)
    leads = state.leader == broker
    weight = np.where(takes_over | (leads & (means >= Means.LEADERS)), arrays.extra[:, d], 0.0)
    rows = _picked(np.where(arrays.may_change, weight, 0.0), params.partitions)
    found = [allowed(arranged(rows, state.lists[rows]), state, means)]
    if means is Means.REPLICAS:
        weight = np.where(takes_over | leads, arrays.extra[:, d], 0.0) + np.where(
            (state.lists == broker).any(axis=1), arrays.follower[:, d], 0.0
        )
        holds = arrays.may_change & (state.lists == broker).any(axis=1)
        rows = _picked(np.where(holds, weight, 0.0), params.moved_partitions)
        others = receivers(state, broker, params.receivers)
        found += [allowed(_moved(state, rows, broker, other), state, means) for other in others]
    return joined(found)


def arranged(rows: Longs, lists: Ints) -> Change:
    """Every choice of a leader and of who comes second, the others in the order that they have. O(K·W²)."""
    width = lists.shape[1]
    found = [Change(rows, lists, lists[:, 0])] if width == 1 else []
    for first in range(width):
        for second in range(width):
            if first != second:
                others = [column for column in range(width) if column not in (first, second)]
                is_there = (lists[:, first] >= 0) & ((lists[:, second] >= 0) | (second == 1) & (lists[:, 1] < 0))
                at = np.flatnonzero(is_there)
                other = lists[at][:, [first, second, *others]]
                found.append(Change(rows[at], other, other[:, 0]))
    return joined(found)


def joined(changes: Sequence[Change]) -> Change:
    """All of them; at least one."""
    return Change(
        np.concatenate([change.rows for change in changes]),
        np.concatenate([change.lists for change in changes]),
        np.concatenate([change.leaders for change in changes]),
    )


def receivers(state: LossState, broker: int, most: int) -> list[int]:
    """Who takes a replica of ``broker``: those that stand lowest after their worst loss, and of its rack alike."""
    arrays = state.arrays
    load = state.load[:, arrays.guarded] + state.taken.max(axis=0, initial=0.0)
    level = (load / arrays.capacity).max(axis=1)
    open_to = np.flatnonzero(arrays.takes_replicas & (np.arange(len(level)) != broker))
    order = open_to[np.argsort(level[open_to], kind="stable")]
    same = order[arrays.rack[order] == arrays.rack[broker]]
    return list(dict.fromkeys([*order[:most].tolist(), *same[:most].tolist()]))


def _moved(state: LossState, rows: Longs, broker: int, other: int) -> Change:
    """The replica on ``broker`` goes to ``other``, in every arrangement; only where that is lawful."""
    arrays = state.arrays
    lists = state.lists[rows]
    is_there = lists == broker
    rest = np.where(is_there | (lists < 0), NOBODY, lists)
    shares = (rest >= 0) & (arrays.rack[rest] == arrays.rack[other])
    fits = ~(lists == other).any(axis=1) & ((arrays.rack[other] == arrays.rack[broker]) | ~shares.any(axis=1))
    if arrays.sets is not None:
        fits &= arrays.sets.brokers[arrays.sets.of_partition[rows], other]
    return arranged(rows[fits], np.where(is_there, other, lists)[fits].astype(np.int32))


def allowed(change: Change, state: LossState, means: Means) -> Change:
    """Those that change something, by lawful means."""
    arrays = state.arrays
    rows, today, led_today = change.rows, arrays.today[change.rows], arrays.today_leader[change.rows]
    keeps_leader = change.leaders == state.leader[rows]
    differs = (change.lists != state.lists[rows]).any(axis=1) | ~keeps_leader
    # A list whose first does not lead is a preferred leader's to come: nothing is put first that leads already.
    is_off = (today[:, 0] != led_today) & (change.leaders == led_today) & (arrays.copies(rows, change.lists) == 0)
    may = differs & arrays.may_lead(rows, change.leaders) & ~is_off
    if means is Means.ORDERS:
        may &= keeps_leader & (state.lists[rows, 0] == change.leaders)
    return change.taken(may)


def _picked(weight: Floats, most: int) -> Longs:
    """int64[≤ most]: half the heaviest, then evenly from the others down to the lightest that weighs anything."""
    rows: Longs = np.flatnonzero(weight > 0)
    order = rows[np.argsort(-weight[rows], kind="stable")]
    if len(order) <= most:
        return order
    half = most // 2
    others = np.linspace(half, len(order) - 1, most - half).astype(np.int64)
    return np.concatenate([order[:half], order[others]])
