"""Lists that stay but get their followers in another order: as many as were asked for, and none in vain.

The controller makes the first replica of a list that is alive and in sync the new leader. So the first follower that
may lead is the standby, and orders are judged by how many leaders each standby takes over from each broker.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.verify.cluster.arrays import ClusterArrays, Flags, Ints
from kafka_rebalance.verify.cluster.claimed_moves import ClaimedMoves
from kafka_rebalance.verify.faults import FaultList


def check_follower_order(
    moves: list[dict[str, Any]],
    claimed: ClaimedMoves,
    cluster: ClusterArrays,
    parameters: PlanOptions,
    faults: FaultList,
) -> None:
    """Judge the moves of kind ``order``. O(P·W)."""
    is_reorder = reordered(claimed)
    count = int(is_reorder.sum())
    if count > parameters.max_reorders and parameters.survive is None:
        faults.add("follower_order", "plan.moves", f"{count} lists are reordered, {parameters.max_reorders} allowed")
    behind = is_reorder & cluster.under_replicated[claimed.row]
    for number in np.flatnonzero(behind).tolist():
        name = f"moves[{number}] {moves[number]['topic']}-{moves[number]['partition']}"
        faults.add("follower_order", name, "a replica of it is behind: nobody knows who would lead")
    if not count or parameters.survive is not None:  # what they are worth is judged by losses: survival.py
        return
    as_before = claimed.after.copy()
    as_before[claimed.row[is_reorder]] = claimed.start[is_reorder]
    was, left = (unevenness(cluster, lists, claimed.leader_after) for lists in (as_before, claimed.after))
    if left >= was:
        faults.add(
            "follower_order", "plan.moves", f"new orders spread nothing: squares of takeovers {was}, then {left}"
        )


def reordered(claimed: ClaimedMoves) -> Flags:
    """bool[M]: the same replicas, the same leader and the same preferred leader; the list is another one."""
    changes_set = (claimed.copies > 0) | claimed.is_dropped.any(axis=1)
    is_other = (claimed.start != claimed.end).any(axis=1)
    stays_led = (claimed.leader_from == claimed.leader_to) & (claimed.start[:, 0] == claimed.end[:, 0])
    return np.asarray(~changes_set & is_other & stays_led)


def unevenness(cluster: ClusterArrays, lists: Ints, leader: Ints) -> int:
    """Squares of how many leaders each standby takes over from each broker, summed: lists int32[P, W] led by the
    first.
    """
    is_heard = np.array([not broker.state.is_unheard for broker in cluster.brokers], dtype=np.bool_)
    may_lead = cluster.keeps_leaders & is_heard
    able = (lists >= 0) & may_lead[lists] & (lists != leader[:, None])
    led_first = (lists[:, 0] == leader) & (leader >= 0) & able.any(axis=1)
    rows = np.flatnonzero(led_first)
    standby = lists[rows, able[rows].argmax(axis=1)]
    pairs = leader[rows].astype(np.int64) * len(cluster.ids) + standby
    _, counts = np.unique(pairs, return_counts=True)
    return int((counts.astype(np.int64) ** 2).sum())
