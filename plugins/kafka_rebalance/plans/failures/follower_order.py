"""Followers in an order that spreads any lost broker's leaders evenly.

Lists of partitions that change anyway get it in any case. Lists that stay are left as they are unless they were asked
for: a new order costs no bytes, yet Kafka is told of each. Replicas that are behind are no standby to rely on, so a
list with one of them stays. A preferred election changes no list.
"""

from __future__ import annotations

import numpy as np

from kafka_rebalance.arrays import NOBODY, Flags
from kafka_rebalance.planner.followers.order import Staying, ordered_followers
from kafka_rebalance.plans.draft import Draft, draft_of, placement_after
from kafka_rebalance.plans.request import PlanRequest


def with_follower_order(plan_request: PlanRequest, draft: Draft) -> Draft:
    """The same moves with other orders of followers in ``end``. O(P·W)."""
    most = plan_request.options.max_reorders
    if not (len(draft) or most) or plan_request.options.preferred_election:
        return draft
    arrays, partitions = plan_request.brokers.arrays, plan_request.partitions
    replicas, leader, _ = placement_after(plan_request, draft)
    is_led_first = (replicas[:, 0] == leader) & (leader != NOBODY)
    is_free = np.zeros(len(replicas), dtype=np.bool_)
    is_free[draft.row[(draft.start != draft.end).any(axis=1)]] = True  # an election leaves its list as it is
    heard = np.array([not broker.state.is_unheard for broker in plan_request.brokers.brokers], dtype=np.bool_)
    may_lead = arrays.keeps_leaders & heard
    weight = partitions.placement.loads.out_bytes_per_s
    ordered = ordered_followers(
        replicas,
        is_free & is_led_first,
        may_lead[replicas] & (replicas != NOBODY) & is_led_first[:, None],
        np.ones(len(replicas)) if weight is None else np.nan_to_num(weight),
        len(arrays.ids),
        Staying(_may_be_reordered(plan_request) & is_led_first & ~is_free, most),
    )
    return draft_of(plan_request, ordered[plan_request.rows], leader[plan_request.rows])


def _may_be_reordered(plan_request: PlanRequest) -> Flags:
    """bool[P]: partitions of the problem that nothing pins, all of whose replicas are alive and in sync."""
    may = np.zeros(len(plan_request.partitions.placement.replicas), dtype=np.bool_)
    may[plan_request.rows] = ~plan_request.pinned
    replicas = plan_request.partitions.placement.replicas
    stays = plan_request.brokers.arrays.stays
    on_leaving = ((replicas >= 0) & ~stays[replicas]).any(axis=1)
    return np.asarray(may & ~plan_request.partitions.under_replicated & ~on_leaving)
