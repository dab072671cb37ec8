"""Replicas that must be in sync for writes: ``min.insync.replicas``."""

from __future__ import annotations

import numpy as np

from kafka_assignors.arrays import Longs
from kafka_assignors.releases import seen_release
from kafka_rebalance.snapshot.model import ClusterSnapshot

KEY = "min.insync.replicas"
# From 3.7 on brokers use the replica count where min.insync.replicas is larger (KAFKA-15583).
_BOUNDED_SINCE = (3, 7)


def least_in_sync(snapshot: ClusterSnapshot) -> Longs:
    """Return int64[P]: the topic's value, else its leader broker's, else 1."""
    table = snapshot.partitions
    of_topic = [_number(topic.configs.get(KEY)) for topic in snapshot.topics]
    by_topic = np.array([0 if number is None else number for number in of_topic], dtype=np.int64)
    is_set = np.array([number is not None for number in of_topic], dtype=np.bool_)
    least = np.ones(len(table), dtype=np.int64)
    for broker in snapshot.brokers:
        if (number := _number(broker.configs.get(KEY))) is not None:
            least[table.leader == broker.id] = number
    return np.where(is_set[table.topic], by_topic[table.topic], least)


def is_bounded_by_replicas(snapshot: ClusterSnapshot) -> bool:
    return seen_release(snapshot.kafka_version)[:2] >= _BOUNDED_SINCE


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isascii() and text.isdigit() and len(text) <= 9 else None
