"""Input of a replay: one group and its partitions as plain columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

from kafka_assignors.arrays import ABSENT, Floats, Ints, Longs
from kafka_assignors.errors import InvalidInputError
from kafka_rebalance.scoring.assignment_scores import PartitionRates
from kafka_rebalance.scoring.rack_traffic import RackCodes, rack_codes
from kafka_rebalance.snapshot.figures import LoadKind
from kafka_rebalance.snapshot.group import RACK_AFFINITY, UNKNOWN_LAG, lag_messages
from kafka_rebalance.snapshot.model import Broker, ClusterSnapshot, Group, GroupType, Member
from kafka_rebalance.snapshot.partition_table import UNKNOWN_OFFSET

NO_METADATA = -1


@dataclass(frozen=True, slots=True, eq=False)
class GroupInput:
    """``topics`` sorted: subscribed, read or owned by members.

    ``partition_counts`` int32[T], NO_METADATA for an unknown topic. ``rates`` along the P partitions; racks of replicas
    as ``rack_offsets`` int64[P+1] and ``racks`` (``None``: no rack), of leaders as ``leader_racks``; empty where not
    needed. ``topic_ids`` empty unless all are known; ``kafka_version`` of the brokers. ``first_row`` int64[T+1]:
    partition p of topic t is row ``first_row[t] + p``. ``standby_replicas``: requested by a streams group.
    """

    group: Group
    topics: tuple[str, ...]
    partition_counts: Ints
    rates: PartitionRates
    rack_offsets: Longs | None = None
    racks: tuple[str | None, ...] = ()
    topic_ids: tuple[str, ...] = ()
    kafka_version: str | None = None
    leader_racks: tuple[str | None, ...] = ()
    standby_replicas: int | None = None
    first_row: Longs = field(init=False)
    _codes: RackCodes | None = field(init=False, default=None, repr=False)

    def __post_init__(self) -> None:
        first_row = np.zeros(len(self.partition_counts) + 1, dtype=np.int64)
        np.cumsum(np.maximum(self.partition_counts, 0), out=first_row[1:])
        object.__setattr__(self, "first_row", first_row)
        rows = int(first_row[-1])
        for name in PartitionRates.__dataclass_fields__:
            if len(getattr(self.rates, name)) != rows:
                raise InvalidInputError.at(
                    f"group {self.group.id}, {name}", f"{len(getattr(self.rates, name))} values for {rows} partitions"
                )
        if self.rack_offsets is not None:
            self._check_racks(self.rack_offsets, rows)

    def _check_racks(self, offsets: Longs, rows: int) -> None:
        lengths = {"rack_offsets": rows + 1, "racks": int(offsets[-1])}
        for name, count in (lengths | ({"leader_racks": rows} if self.leader_racks else {})).items():
            if len(getattr(self, name)) != count:
                raise InvalidInputError.at(
                    f"group {self.group.id}, {name}", f"{len(getattr(self, name))} values, not {count}"
                )

    @property
    def rack_codes(self) -> RackCodes | None:
        if self._codes is None and self.rack_offsets is not None:
            members = [member.rack for member in self.group.members]
            codes = rack_codes(self.rack_offsets, self.racks, self.leader_racks, members)
            object.__setattr__(self, "_codes", codes)
        return self._codes

    @property
    def reader(self) -> Ints:
        """Today's reader (member index, ABSENT); the last of several in a share group."""
        first, index = self.first_row, {topic: number for number, topic in enumerate(self.topics)}
        reader = np.full(int(first[-1]), ABSENT, dtype=np.int32)
        for number, member in enumerate(self.group.members):
            for topic, partitions in member.assigned:
                t = index.get(topic, -1)
                for partition in partitions:
                    if t >= 0 and partition < self.partition_counts[t]:
                        reader[first[t] + partition] = number
        return reader


def topics_of(group: Group) -> tuple[str, ...]:
    """Return sorted topics that a member subscribes to, owns, reads or will read."""
    names: set[str] = set()
    for member in group.members:
        names.update(member.subscription or ())
        assignments = (member.owned or (), member.assigned, member.target or ())
        names.update(topic for runs in assignments for topic, _ in runs)
    return tuple(sorted(names))


def group_inputs(
    snapshot: ClusterSnapshot, known_topics: Mapping[str, Sequence[str]] = MappingProxyType({})
) -> Iterator[GroupInput]:
    """Yield one input a group; ``known_topics``: those that its members no longer show."""
    table = snapshot.partitions
    index = {topic.name: number for number, topic in enumerate(snapshot.topics)}
    begins = np.searchsorted(table.topic, np.arange(len(snapshot.topics) + 1))
    in_bytes, messages = snapshot.load(LoadKind.IN_BYTES_PER_S), snapshot.load(LoadKind.IN_MESSAGES_PER_S)
    rack_of = {broker.id: broker.rack for broker in snapshot.brokers}
    for group in snapshot.groups:
        topics = tuple(sorted({*topics_of(group), *known_topics.get(group.id, ())}))
        spans = [_span(begins, index.get(topic)) for topic in topics]
        rows = np.concatenate([np.zeros(0, dtype=np.int64), *(span for span in spans if span is not None)])
        counts = [NO_METADATA if span is None else len(span) for span in spans]
        rates = PartitionRates(in_bytes[rows], messages[rows], *lag_and_reads(snapshot, group, rows))
        offsets, racks = _racks(snapshot, group, rows, rack_of)
        led = () if offsets is None else tuple(rack_of.get(leader) for leader in table.leader[rows].tolist())
        ids = known_ids(snapshot.topics[index[topic]].topic_id if topic in index else None for topic in topics)
        standbys = standby_replicas_of(group, snapshot.brokers) if group.type is GroupType.STREAMS else None
        yield GroupInput(
            group, topics, np.array(counts, dtype=np.int32), rates, offsets, racks, ids, snapshot.kafka_version, led,
            standbys,
        )  # fmt: skip


_GROUP_STANDBYS, _BROKER_STANDBYS = "streams.num.standby.replicas", "group.streams.num.standby.replicas"


def standby_replicas_of(group: Group, brokers: Iterable[Broker]) -> int | None:
    """Return the group's own setting, else the brokers' common one."""
    own = group.configs.get(_GROUP_STANDBYS)
    values = {own} if own is not None else {broker.configs.get(_BROKER_STANDBYS) for broker in brokers}
    value = values.pop() if len(values) == 1 else None
    return int(value) if value is not None and value.isdecimal() else None


def known_ids(ids: Iterable[str | None]) -> tuple[str, ...]:
    """All or none: a part of them gives an order that no broker uses."""
    every = tuple(ids)
    return tuple(subscription for subscription in every if subscription is not None) if None not in every else ()


def lag_and_reads(snapshot: ClusterSnapshot, group: Group, rows: Longs) -> tuple[Floats, Floats]:
    table = snapshot.partitions
    committed = {(commit.topic, commit.partition): commit for commit in group.committed}
    reads = np.full(len(rows), np.nan)
    reported, end = np.full(len(rows), UNKNOWN_LAG), np.full(len(rows), UNKNOWN_OFFSET)
    offset = np.zeros(len(rows), dtype=np.int64)
    for index, row in enumerate(rows.tolist()):
        commit = committed.get((snapshot.topics[table.topic[row]].name, int(table.partition[row])))
        if commit is None:
            continue
        offset[index], end[index] = commit.offset, table.end_offset[row]
        if commit.lag is not None:
            reported[index] = commit.lag
        if commit.read_messages_per_s is not None:
            reads[index] = commit.read_messages_per_s
    lag = lag_messages(reported, end, offset)
    return np.where(lag == UNKNOWN_LAG, np.nan, lag), reads


def has_racks(members: tuple[Member, ...]) -> bool:
    """Whether a member has a rack: only then do strategies use racks."""
    return any(member.rack for member in members)


def _span(begins: Longs, topic: int | None) -> Longs | None:
    return None if topic is None else np.arange(begins[topic], begins[topic + 1], dtype=np.int64)


def _racks(
    snapshot: ClusterSnapshot, group: Group, rows: Longs, rack_of: dict[int, str | None]
) -> tuple[Longs | None, tuple[str | None, ...]]:
    follows_leaders = group.protocol == RACK_AFFINITY
    if not (follows_leaders or has_racks(group.members)):
        return None, ()
    replicas = [list(snapshot.partitions.replicas_of(row)) for row in rows.tolist()]
    if follows_leaders:  # it takes the first rack for the leader's
        for brokers, leader in zip(replicas, snapshot.partitions.leader[rows].tolist(), strict=True):
            brokers.sort(key=leader.__ne__)
    offsets = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum([len(replica) for replica in replicas])))
    return offsets.astype(np.int64), tuple(rack_of[broker] for replica in replicas for broker in replica)
