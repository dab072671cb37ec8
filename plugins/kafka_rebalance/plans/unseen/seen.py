"""What a plan saw of its cluster: it rests on it, so ``check`` asks on a newer snapshot whether it is still so."""

from __future__ import annotations

import numpy as np

from kafka_rebalance.plans.draft import Draft
from kafka_rebalance.plans.plan import Seen
from kafka_rebalance.plans.request import Ask
from kafka_rebalance.snapshot.model import BrokerState

_SILENT = (BrokerState.DEAD, BrokerState.FENCED)


def seen_by(ask: Ask, draft: Draft) -> Seen:
    """Racks of all brokers, partition counts of topics that move, reassignments that were running. O(P)."""
    snapshot = ask.snapshot
    table = snapshot.partitions
    counts = np.bincount(table.topic, minlength=len(snapshot.topics))
    rows = sorted({*table.adding, *table.removing})
    return Seen(
        broker_racks={broker.id: broker.rack for broker in ask.brokers.brokers},
        dead_brokers=tuple(broker.id for broker in ask.brokers.brokers if broker.state in _SILENT),
        topic_partitions={snapshot.topics[topic].name: int(counts[topic]) for topic in _moved(ask, draft)},
        reassigning=tuple((snapshot.topics[int(table.topic[row])].name, int(table.partition[row])) for row in rows),
    )


def topic_ids_of(ask: Ask, draft: Draft) -> dict[str, str | None]:
    """The id of each topic that moves, None where the snapshot does not hold it."""
    return {ask.snapshot.topics[topic].name: ask.snapshot.topics[topic].topic_id for topic in _moved(ask, draft)}


def _moved(ask: Ask, draft: Draft) -> list[int]:
    """Topic indices, by name."""
    topics = np.unique(ask.snapshot.partitions.topic[draft.row]).tolist()
    return sorted(topics, key=lambda topic: ask.snapshot.topics[topic].name)
