"""One packed row of ``arrow.py`` → the input of a replay, the same as the snapshot itself would give."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from kafka_rebalance.groups.group_input import GroupInput, has_racks, known_ids, topics_of
from kafka_rebalance.scoring.assignment_scores import PartitionRates
from kafka_rebalance.snapshot.codec.group_rows import read_group

_UNKNOWN_LAG = -1


def unpack_group(
    row: Mapping[str, Any], rack_of: Mapping[int, str | None], kafka_version: str | None = None
) -> GroupInput:
    """The question of a row of ``pack_groups`` (``to_pylist``'s mapping); ``rack_of`` each broker.

    Topics that have commits of the group, and no reader any more, are left out.
    """
    group = read_group(json.loads(row["group"]), row["group_id"])
    counts = dict(zip(row["topics"], row["partition_count"], strict=True))
    topics, rows = topics_of(group), _rows(counts)
    mine = _concatenated([rows[topic] for topic in topics])
    lag = np.array(row["lag_messages"], dtype=np.float64)
    lag[lag == _UNKNOWN_LAG] = np.nan
    rates = PartitionRates(
        in_bytes_per_s=np.array(row["in_bytes_per_s"], dtype=np.float64)[mine],
        in_messages_per_s=np.array(row["in_messages_per_s"], dtype=np.float64)[mine],
        lag_messages=lag[mine],
    )
    offsets, racks = _racks(row, mine, rack_of) if has_racks(group.members) else (None, ())
    id_of = dict(zip(row["topics"], row["topic_id"], strict=True))
    ids = known_ids(id_of[topic] for topic in topics)
    sizes = np.array([counts[topic] for topic in topics], dtype=np.int32)
    return GroupInput(group, topics, sizes, rates, offsets, racks, ids, kafka_version)


def _rows(counts: Mapping[str, int]) -> dict[str, npt.NDArray[np.int64]]:
    """Places of each topic's partitions in the row's lists."""
    rows, begin = {}, 0
    for topic, count in counts.items():
        end = begin + max(0, count)
        rows[topic] = np.arange(begin, end, dtype=np.int64)
        begin = end
    return rows


def _racks(
    row: Mapping[str, Any], mine: npt.NDArray[np.int64], rack_of: Mapping[int, str | None]
) -> tuple[npt.NDArray[np.int64], tuple[str | None, ...]]:
    counts = np.array(row["replica_count"], dtype=np.int64)
    ends = np.cumsum(counts)
    replicas = [row["replicas"][ends[place] - counts[place] : ends[place]] for place in mine.tolist()]
    offsets = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(counts[mine], dtype=np.int64)))
    return offsets, tuple(rack_of[broker] for replica in replicas for broker in replica)


def _concatenated(parts: list[npt.NDArray[np.int64]]) -> npt.NDArray[np.int64]:
    return np.concatenate((np.zeros(0, dtype=np.int64), *parts))
