"""An assignment request without owned partitions: once for all strategies of a state. The coordinator's strategies see
only existing topics.

``feeding_order`` is the order of insertion into the strategy's Java HashMap; in one bin the first comes first.
- KIP-848: from the coordinator's ``TimelineHashMap``, given by the ids.
- Classic, brokers up to 3.9: from the JoinGroup response, in the order of Scala's map.
- Classic, brokers from 4.0 on: join order within a bin, which no snapshot shows: we take the order of ids.

A hash table that held more members before may be larger.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from kafka_assignors.arrays import ABSENT, Flags, Floats, Ints, Longs
from kafka_assignors.contract import NO_METADATA, AssignmentRequest, MapOrder, MemberColumns, TopicColumns
from kafka_assignors.coordinator.membership import Coordinator, TimelineMap, coordinator_of
from kafka_assignors.java.keys import uuid_columns
from kafka_assignors.java.scala_maps import ScalaMutableMap
from kafka_assignors.kernels import kernel
from kafka_assignors.releases import Release, seen_release
from kafka_assignors.string_column import StringColumn
from kafka_rebalance.groups.group_input import GroupInput
from kafka_rebalance.snapshot.model import Member


def feeding_order(members: tuple[Member, ...], release: Release, *, is_server: bool) -> Longs | None:
    """Insertion order of ``members``; None: unchanged. ``release``: of the brokers or ()."""
    ids = [member.id for member in members]
    if len(set(ids)) < len(ids):
        return None  # duplicate ids exist only in dumps
    if is_server:
        order = TimelineMap.settled(ids).order()
    elif release and coordinator_of(release) is Coordinator.SCALA:
        order = ScalaMutableMap.of(ids).order()
    else:
        return None
    index_of = {name: number for number, name in enumerate(ids)}
    return np.array([index_of[name] for name in order], dtype=np.int64)


Subscriptions = tuple[tuple[int, ...], ...]  # topic indices by member


@dataclass(frozen=True, slots=True, eq=False)
class RequestFrame:
    empty: AssignmentRequest
    topic_of: Ints
    partition_of: Ints
    rows: Longs  # of partitions, as members list them

    def of_reader(self, reader: Ints) -> AssignmentRequest:
        return self.of_owned(*_owned_of(reader, self.rows, self.topic_of, self.partition_of, len(self.empty.members)))

    def of_owned(self, offsets: Longs, topics: Ints, partitions: Ints) -> AssignmentRequest:
        """Member i owns ``topics[k]``-``partitions[k]``, k in ``offsets[i]:offsets[i+1]``."""
        for column in (offsets, topics, partitions):
            column.flags.writeable = False
        return self.empty.with_members(self.empty.members.owning(offsets, topics, partitions))


def frame_of(
    group_input: GroupInput, subscriptions: Subscriptions, *, is_server: bool = False, as_listed: bool = False
) -> RequestFrame:
    """Return the input of the leader's strategy, or of the coordinator's (``is_server``). Members are in
    ``feeding_order``, or ``as_listed``.
    """
    counts, members = group_input.partition_counts, group_input.group.members
    release = seen_release(group_input.kafka_version)
    if is_server:
        subscriptions = tuple(tuple(topic for topic in topics if counts[topic] >= 0) for topics in subscriptions)
    rack_names = tuple(sorted({rack for rack in (*group_input.racks, *(m.rack for m in members)) if rack}))
    subscribed = np.zeros(len(counts), dtype=np.bool_)
    subscribed[[topic for topics in subscriptions for topic in topics]] = True
    empty = AssignmentRequest(
        topics=_topics(group_input, subscribed, rack_names),
        members=_members(group_input, subscriptions, rack_names),
        rack_names=rack_names,
        order=MapOrder.LEADER,
        weights=_weights(group_input, subscribed),
        member_order=None if as_listed else feeding_order(members, release, is_server=is_server),
    )
    sizes = np.maximum(counts, 0)
    topic_of = np.repeat(np.arange(len(counts), dtype=np.int32), sizes)
    partition_of = (np.arange(len(topic_of)) - group_input.first_row[topic_of]).astype(np.int32)
    rows = _listed_rows(group_input) if is_server else np.arange(len(topic_of))
    return RequestFrame(empty, topic_of, partition_of, rows)


def owned_partitions(group_input: GroupInput, *, is_server: bool) -> tuple[Longs, Ints, Ints]:
    """Return bounds by member, topic indices and partitions that exist, as members list what they read (to a
    coordinator: its targets).
    """
    index = {topic: number for number, topic in enumerate(group_input.topics)}
    owned = [
        [
            (index[topic], p)
            for topic, run in member.owns(is_server=is_server)
            for p in run
            if p < group_input.partition_counts[index[topic]]
        ]
        for member in group_input.group.members
    ]
    flat = np.array([pair for pairs in owned for pair in pairs], dtype=np.int32).reshape(-1, 2)
    return bounds_of(owned), flat[:, 0].copy(), flat[:, 1].copy()


def _listed_rows(group_input: GroupInput) -> Longs:
    """int64[P]: rows of partitions in the order of the coordinator's targets, then those of nobody."""
    first = group_input.first_row
    _, topics, partitions = owned_partitions(group_input, is_server=True)
    rows, at = np.unique(first[topics] + partitions, return_index=True)
    return np.concatenate((rows[np.argsort(at)], np.setdiff1d(np.arange(int(first[-1])), rows)))


@kernel
def _owned_of(reader: Ints, rows: Longs, topic_of: Ints, partition_of: Ints, members: int) -> tuple[Longs, Ints, Ints]:
    offsets = np.zeros(members + 1, np.int64)
    for row in range(len(reader)):
        if reader[row] != ABSENT:
            offsets[reader[row] + 1] += 1
    for member in range(members):
        offsets[member + 1] += offsets[member]
    filled = offsets[:-1].copy()
    topics, partitions = np.empty(offsets[-1], np.int32), np.empty(offsets[-1], np.int32)
    for row in rows:
        member = reader[row]
        if member != ABSENT:
            topics[filled[member]], partitions[filled[member]] = topic_of[row], partition_of[row]
            filled[member] += 1
    return offsets, topics, partitions


def _members(group_input: GroupInput, subscriptions: Subscriptions, rack_names: tuple[str, ...]) -> MemberColumns:
    members = group_input.group.members
    rack = {name: number for number, name in enumerate(rack_names)}
    generation = np.ones(len(members), dtype=np.int32)
    columns = MemberColumns.of(
        StringColumn.of(member.id for member in members),
        bounds_of(subscriptions),
        np.array([topic for topics in subscriptions for topic in topics], dtype=np.int32),
        instances=[member.instance_id for member in members],
        racks=np.array([rack.get(member.rack or "", -1) for member in members], dtype=np.int32),
    )
    return replace(
        columns, generations=generation, data_generations=generation,
        user_data=tuple(member.user_data for member in members),
        hosts=tuple(member.host for member in members),
        client_ids=tuple(member.client_id for member in members),
    )  # fmt: skip


def _topics(group_input: GroupInput, subscribed: Flags, rack_names: tuple[str, ...]) -> TopicColumns:
    counts = np.where(subscribed & (group_input.partition_counts >= 0), group_input.partition_counts, NO_METADATA)
    rack_offsets, racks = group_input.rack_offsets, np.zeros(0, dtype=np.int32)
    rack = {name: number for number, name in enumerate(rack_names)}
    if rack_offsets is not None:
        is_asked, widths = _rows(group_input, subscribed), np.diff(rack_offsets)
        racks = np.array([rack.get(name or "", -1) for name in group_input.racks], dtype=np.int32)
        racks = racks[np.repeat(is_asked, widths)]
        rack_offsets = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(widths[is_asked])))
    high, low = uuid_columns(group_input.topic_ids) if group_input.topic_ids else (None, None)
    return TopicColumns.of(
        StringColumn.of(group_input.topics), counts.astype(np.int32), rack_offsets=rack_offsets, racks=racks,
        uuid_msb=high, uuid_lsb=low,
    )  # fmt: skip


def _weights(group_input: GroupInput, subscribed: Flags) -> Floats | None:
    """Bytes per second where all are known; else None: equal weights."""
    rates = group_input.rates.in_bytes_per_s[_rows(group_input, subscribed)]
    return None if np.isnan(rates).any() or not rates.any() else rates


def _rows(group_input: GroupInput, subscribed: Flags) -> Flags:
    return np.repeat(subscribed, np.maximum(group_input.partition_counts, 0))


def bounds_of(lists: Sequence[Sequence[object]]) -> Longs:
    """Offsets of concatenated lists."""
    return np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum([len(items) for items in lists]))).astype(np.int64)
