"""One packed row of ``arrow.py`` → the input of a replay, the same as the snapshot itself would give."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from kafka_rebalance.groups.group_input import GroupInput
from kafka_rebalance.scoring.assignment_scores import PartitionRates
from kafka_rebalance.snapshot.codec import read_group


def unpack_group(row: Mapping[str, Any]) -> GroupInput:
    """The question of a row of ``pack_groups`` (``to_pylist``'s mapping)."""
    rates = PartitionRates(
        in_bytes_per_s=np.array(row["in_bytes_per_s"], dtype=np.float64),
        in_messages_per_s=np.array(row["in_messages_per_s"], dtype=np.float64),
        lag_messages=np.array(row["lag_messages"], dtype=np.float64),
        read_messages_per_s=np.array(row["read_messages_per_s"], dtype=np.float64),
    )
    offsets = row["rack_offsets"]
    return GroupInput(
        group=read_group(json.loads(row["group"]), row["group_id"]),
        topics=tuple(row["topics"]),
        partition_counts=np.array(row["partition_count"], dtype=np.int32),
        rates=rates,
        rack_offsets=None if offsets is None else np.array(offsets, dtype=np.int64),
        racks=tuple(row["racks"]),
        leader_racks=tuple(row["leader_racks"]),
        topic_ids=tuple(row["topic_ids"]),
        kafka_version=row["kafka_version"],
    )
