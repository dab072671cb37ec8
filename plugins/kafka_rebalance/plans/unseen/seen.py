"""What a plan saw of its cluster: it rests on it, so ``check`` compares it with a newer snapshot."""

from __future__ import annotations

import numpy as np

from kafka_rebalance.plans.draft import Draft
from kafka_rebalance.plans.plan import Seen
from kafka_rebalance.plans.request import PlanRequest


def seen_by(plan_request: PlanRequest, draft: Draft) -> Seen:
    """Racks of all brokers, partition counts of topics that move, reassignments that were running. O(P)."""
    snapshot = plan_request.snapshot
    table = snapshot.partitions
    counts = np.bincount(table.topic, minlength=len(snapshot.topics))
    rows = sorted({*table.adding, *table.removing})
    return Seen(
        broker_racks={broker.id: broker.rack for broker in plan_request.brokers.brokers},
        dead_brokers=tuple(sorted(broker.id for broker in snapshot.brokers if not broker.state.is_heard)),
        topic_partitions={snapshot.topics[topic].name: int(counts[topic]) for topic in _moved(plan_request, draft)},
        reassigning=tuple((snapshot.topics[int(table.topic[row])].name, int(table.partition[row])) for row in rows),
    )


def topic_ids_of(plan_request: PlanRequest, draft: Draft) -> dict[str, str | None]:
    """The id of each topic that moves, None where the snapshot does not hold it."""
    return {
        plan_request.snapshot.topics[topic].name: plan_request.snapshot.topics[topic].topic_id
        for topic in _moved(plan_request, draft)
    }


def _moved(plan_request: PlanRequest, draft: Draft) -> list[int]:
    """Topic indices, by name."""
    topics = np.unique(plan_request.snapshot.partitions.topic[draft.row]).tolist()
    return sorted(topics, key=lambda topic: plan_request.snapshot.topics[topic].name)
