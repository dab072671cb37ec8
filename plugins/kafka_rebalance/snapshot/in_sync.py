"""How many replicas must be in sync for a partition to take writes: ``min.insync.replicas`` of its topic."""

from __future__ import annotations

import numpy as np

from kafka_rebalance.arrays import Longs
from kafka_rebalance.snapshot.model import ClusterSnapshot

KEY = "min.insync.replicas"


def least_in_sync(snapshot: ClusterSnapshot) -> Longs:
    """int64[P]: 1 where nobody set it."""
    least = [topic.configs.get(KEY, "1") for topic in snapshot.topics]
    by_topic = np.array([int(text) if _is_number(text) else 1 for text in least], dtype=np.int64)
    return by_topic[snapshot.partitions.topic]


def _is_number(text: str) -> bool:
    """As Kafka has it: an integer of 31 bits."""
    return text.isascii() and text.isdigit() and len(text) <= 9
