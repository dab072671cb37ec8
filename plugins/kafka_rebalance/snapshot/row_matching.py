"""Which rows of two readings are the same partition: by topic and number, and by the topic's id where both tell it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_rebalance.arrays import Ints, Longs
from kafka_rebalance.snapshot.model import ClusterSnapshot


@dataclass(frozen=True, slots=True, eq=False)
class NamedPartitions:
    """P partitions: ``topic`` int32[P] is an index into ``names`` and ``ids`` (None: not told); ``partition`` int32[P]
    is its number.
    """

    names: tuple[str, ...]
    ids: tuple[str | None, ...]
    topic: Ints
    partition: Ints

    def __len__(self) -> int:
        return len(self.topic)


def named_partitions(snapshot: ClusterSnapshot) -> NamedPartitions:
    """Those of a snapshot, in the order of its table."""
    names = tuple(topic.name for topic in snapshot.topics)
    ids = tuple(topic.topic_id for topic in snapshot.topics)
    return NamedPartitions(names, ids, snapshot.partitions.topic, snapshot.partitions.partition)


def rows_of_same(before: NamedPartitions, now: ClusterSnapshot) -> Longs:
    """int64[P]: the row in ``before`` of each partition of ``now``, -1 where it was not there.

    A topic that was deleted and created again has another id: it is another one.
    """
    index = {topic.name: i for i, topic in enumerate(now.topics)}
    topic_now = np.full(len(before.names), -1, dtype=np.int64)
    for place, (name, topic_id) in enumerate(zip(before.names, before.ids, strict=True)):
        found = index.get(name)
        if found is not None and (None in (topic_id, now.topics[found].topic_id)
                                  or topic_id == now.topics[found].topic_id):  # fmt: skip
            topic_now[place] = found
    if not len(before) or not len(now.partitions):
        return np.full(len(now.partitions), -1, dtype=np.int64)
    topics = topic_now[before.topic]
    rows = np.flatnonzero(topics >= 0)
    keys = topics[rows] << 32 | before.partition[rows]
    wanted = now.partitions.topic.astype(np.int64) << 32 | now.partitions.partition
    return look_up(keys, rows, wanted)


def look_up(keys: Longs, values: Longs, wanted: Longs) -> Longs:
    """``values`` at the place of each wanted key, -1 where there is none."""
    if not len(keys):
        return np.full(len(wanted), -1, dtype=np.int64)
    order = np.argsort(keys, kind="stable")
    place = np.minimum(np.searchsorted(keys[order], wanted), len(keys) - 1)
    return np.where(keys[order][place] == wanted, values[order][place], -1)
