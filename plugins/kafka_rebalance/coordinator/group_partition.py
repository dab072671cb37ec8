"""Which partition of ``__consumer_offsets`` a group belongs to; the leader of that partition coordinates the group.

``partition = abs(groupId.hashCode) % partitions``, where abs of the least int is 0 (KAFKA-1988): −1 gives 1. What
counts is the number of partitions that the topic really has, not the setting ``offsets.topic.num.partitions`` (50).

Example: "polygenelubricants" hashes to the least int, so it is in partition 0.
"""

from __future__ import annotations

import numpy as np

from kafka_rebalance.arrays import Ints
from kafka_rebalance.java.strings import hash_codes
from kafka_rebalance.string_column import StringColumn


def group_hash_codes(groups: StringColumn) -> Ints:
    """``String.hashCode`` of each group id: int32[N]."""
    codes: Ints = hash_codes(groups.data, groups.offsets)
    return codes


def group_partitions(groups: StringColumn, partitions: int) -> Ints:
    """Partition of each group: int32[N]; ``partitions`` of ``__consumer_offsets``, one or more."""
    codes = group_hash_codes(groups).astype(np.int64)
    return (np.where(codes == -(2**31), 0, np.abs(codes)) % partitions).astype(np.int32)
