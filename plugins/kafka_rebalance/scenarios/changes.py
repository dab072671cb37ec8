"""Changes that a scenario makes to a snapshot."""

from __future__ import annotations

import re
import uuid
from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar
from zlib import crc32

import numpy as np

from kafka_assignors.arrays import Flags, Floats, Ints, Longs
from kafka_assignors.errors import InvalidInputError
from kafka_assignors.java.seeded_random import java_random
from kafka_assignors.visible_text import excerpt
from kafka_rebalance.placement.placers import PlacementError, place_striped
from kafka_rebalance.placement.topic_replay import placement_brokers
from kafka_rebalance.snapshot.figures import LARGEST_INT32, LoadKind, topic_name_fault, uuid_text
from kafka_rebalance.snapshot.model import (
    Broker,
    BrokerState,
    ClusterSnapshot,
    CommittedOffset,
    Group,
    LogDir,
    Member,
    Partition,
    Topic,
    TopicPartitions,
    partition_table,
)
from kafka_rebalance.snapshot.partition_table import (
    NO_LEADER,
    UNKNOWN_BYTES,
    UNKNOWN_DIR,
    LoadColumn,
    PartitionLoads,
    PartitionTable,
)


def require_pattern(location: str, pattern: str) -> None:
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise InvalidInputError.at(location, f"{excerpt(pattern)} is no regular expression ({error})") from error


def matching(kind: str, pattern: str, names: Iterable[str]) -> frozenset[str]:
    """Return names that match whole. Raises InvalidInputError for none."""
    matches = frozenset(name for name in names if re.fullmatch(pattern, name))
    if not matches:
        raise InvalidInputError.at(f"{kind} {excerpt(pattern)}", f"no {kind} of the cluster has such a name")
    return matches


def groups_with_members(snapshot: ClusterSnapshot, pattern: str) -> frozenset[str]:
    """Return matching groups with members and a strategy. Raises InvalidInputError for none."""
    able = [group.id for group in snapshot.groups if can_change(group)]
    return matching("group", pattern, able)


def can_change(group: Group) -> bool:
    return bool(group.members) and group.type.has_strategy


def require_known(kind: str, names: Iterable[str] | Iterable[int], choices: Iterable[str] | Iterable[int]) -> None:
    """Raises InvalidInputError for the first unknown name."""
    there = set(choices)
    for name in names:
        if name not in there:
            listed = ", ".join(str(known_name) for known_name in sorted(there, key=str)[:_MOST_LISTED]) or "none"
            raise InvalidInputError.at(
                f"{kind} {excerpt(name)}", f"no {kind} of the cluster has it", f"known: {listed}"
            )


_MOST_LISTED = 20


@dataclass(frozen=True, slots=True)
class RackLost:
    """All brokers of a rack and members that report it are dead."""

    rack: str

    def applied(self, snapshot: ClusterSnapshot, seed: int) -> ClusterSnapshot:
        del seed  # no draws
        of_brokers = {broker.rack for broker in snapshot.brokers if broker.rack is not None}
        of_members = {member.rack for group in snapshot.groups for member in group.members if member.rack is not None}
        require_known("rack", (self.rack,), of_brokers | of_members)
        groups = tuple(_without_rack(group, self.rack) for group in snapshot.groups)
        lost = frozenset(broker.id for broker in snapshot.brokers if broker.rack == self.rack)
        return _without_brokers(replace(snapshot, groups=groups), lost)


@dataclass(frozen=True, slots=True)
class BrokersLost:
    ids: tuple[int, ...]

    def applied(self, snapshot: ClusterSnapshot, seed: int) -> ClusterSnapshot:
        del seed  # no draws
        require_known("broker", self.ids, (broker.id for broker in snapshot.brokers))
        return _without_brokers(snapshot, frozenset(self.ids))


@dataclass(frozen=True, slots=True)
class BrokersAdded:
    """Empty brokers with capacity and log dirs of broker ``like`` (default: the first in service).

    ``count`` with the next free ids, or ``ids``. ``racks`` in turn; default: the rack with the fewest brokers in
    service.
    """

    count: int | None = None
    ids: tuple[int, ...] = ()
    racks: tuple[str, ...] = ()
    like: int | None = None

    def __post_init__(self) -> None:
        if (self.count is None) is not bool(self.ids):
            raise InvalidInputError.at("brokers_added", "expected either a count or ids")

    def applied(self, snapshot: ClusterSnapshot, seed: int) -> ClusterSnapshot:
        del seed  # no draws
        there = {broker.id for broker in snapshot.brokers}
        like = self._like(snapshot)
        first = max(there, default=-1) + 1
        ids = self.ids or tuple(range(first, first + (self.count or 0)))
        if taken := sorted(there & set(ids)):
            raise InvalidInputError.at(f"broker {taken[0]}", "is in the cluster already", "give another id, or a count")
        if ids[-1] > LARGEST_INT32:
            raise InvalidInputError.at("brokers_added", f"no id above {first - 1} is free", "give ids")
        racks = Counter({broker.rack: 0 for broker in snapshot.brokers if broker.rack is not None})
        racks.update(
            broker.rack for broker in snapshot.brokers if broker.rack is not None and broker.state.is_responsive
        )
        added: list[Broker] = []
        for number, broker in enumerate(ids):
            rack = self.racks[number % len(self.racks)] if self.racks else _emptiest(racks)
            if rack is not None:
                racks[rack] += 1
            added.append(_empty_like(like, broker, rack))
        return replace(snapshot, brokers=(*snapshot.brokers, *added))

    def _like(self, snapshot: ClusterSnapshot) -> Broker:
        by_id = {broker.id: broker for broker in snapshot.brokers}
        if self.like is not None:
            require_known("broker", (self.like,), by_id)
            return by_id[self.like]
        responsive = [broker.id for broker in snapshot.brokers if broker.state.is_responsive]
        if not responsive:
            raise InvalidInputError.at("brokers_added", "no broker is in service that a new one could be like")
        return by_id[min(responsive)]


def _emptiest(racks: Counter[str]) -> str | None:
    return min(racks, key=lambda rack: (racks[rack], rack), default=None)


def _empty_like(like: Broker, broker: int, rack: str | None) -> Broker:
    dirs = tuple(LogDir(log_dir.path, log_dir.total_bytes, log_dir.total_bytes) for log_dir in like.log_dirs)
    return Broker(
        broker, rack, state=BrokerState.NEW, log_dirs=dirs, capacity=like.capacity, configs=dict(like.configs)
    )


def _without_rack(group: Group, rack: str) -> Group:
    return replace(group, members=tuple(member for member in group.members if member.rack != rack))


def _without_brokers(snapshot: ClusterSnapshot, lost: frozenset[int]) -> ClusterSnapshot:
    brokers = tuple(
        replace(broker, state=BrokerState.DEAD, is_controller=False) if broker.id in lost else broker
        for broker in snapshot.brokers
    )
    groups = tuple(
        replace(group, coordinator=None) if group.coordinator in lost else group for group in snapshot.groups
    )
    serving = frozenset(broker.id for broker in brokers if not broker.state.is_gone)
    return replace(
        snapshot, brokers=brokers, groups=groups, partitions=_led_by_others(snapshot.partitions, lost, serving)
    )


def _led_by_others(table: PartitionTable, lost: frozenset[int], serving: frozenset[int]) -> PartitionTable:
    owner = table.row_of_replica
    is_lost = np.isin(table.replicas, list(lost))
    leads = table.replicas == table.leader[owner]
    may_lead = np.isin(table.replicas, list(serving)) & ~_observes(table)
    if table.in_sync is not None:
        may_lead &= table.in_sync
    leader, has_lost = table.leader.copy(), np.isin(table.leader, list(lost))
    leader[has_lost] = NO_LEADER
    cells = np.flatnonzero(may_lead & has_lost[owner])
    rows, first = np.unique(owner[cells], return_index=True)  # cells are in list order: the first of a row leads
    leader[rows] = table.replicas[cells[first]]
    in_sync = table.in_sync
    if in_sync is not None:
        was_leader = leads & has_lost[owner]
        in_sync = in_sync & ~is_lost
        still = np.zeros(len(table), dtype=np.bool_)
        still[owner[in_sync]] = True
        in_sync |= was_leader & ~still[owner]
    return replace(table, leader=leader, in_sync=in_sync)


def _observes(table: PartitionTable) -> Flags:
    observes = np.zeros(len(table.replicas), dtype=np.bool_)
    for row, brokers in table.observers.items():
        cells = slice(int(table.offsets[row]), int(table.offsets[row + 1]))
        observes[cells] = np.isin(table.replicas[cells], brokers)
    return observes


def spread_over_all(rates: Floats, old_count: int) -> None:
    """Set rates in place: keys move, so each partition gets the topic's mean; unknown where one is unknown."""
    rates[:] = rates[:old_count].sum() / len(rates)


def drawn_topic_id(lots: np.random.Generator) -> str:
    return uuid_text(lots.bytes(16))


def free_name(topics: Container[str], like: str) -> str:
    name = f"{like}.new"
    while name in topics:
        name += ".new"
    return name


_NUMBERED = re.compile(r"(.*?)([0-9]+)")


def lots_of(group_id: str, scenario: str, seed: int) -> np.random.Generator:
    """Random generator of a group and scenario, independent of other replays.

    Raises InvalidInputError for a negative seed.
    """
    if seed < 0:
        raise InvalidInputError.at("seed", f"is {seed}", "take 0 or more")
    return np.random.default_rng([seed, crc32(group_id.encode("utf-8", "surrogatepass")), crc32(scenario.encode())])


class Newcomers:
    """Draws new members: an existing one's subscription, the rack with fewest members, the next instance number."""

    def __init__(self, members: tuple[Member, ...], lots: np.random.Generator) -> None:
        self._members = members
        self._lots = lots
        self._racks = Counter(member.rack for member in members if member.rack)
        self._numbers: Counter[str] = Counter()
        for member in members:
            if member.instance_id is not None:
                prefix, number = _split_instance(member.instance_id)
                self._numbers[prefix] = max(self._numbers[prefix], number)

    def draw(self, count: int) -> list[tuple[int, Member]]:
        likes = self._lots.integers(len(self._members), size=count).tolist()
        return [(like, self.one_like(self._members[like])) for like in likes]

    def one_like(self, like: Member) -> Member:
        instance = None
        if like.instance_id is not None:
            prefix, _ = _split_instance(like.instance_id)
            self._numbers[prefix] += 1
            instance = f"{prefix}{self._numbers[prefix]}"
        rack = None
        if like.rack:
            rack = min(self._racks, key=lambda name: (self._racks[name], name))
            self._racks[rack] += 1
        return replace(
            like, id=_drawn_id(like, instance, self._lots), instance_id=instance, rack=rack, assigned=(), owned=None,
            target=None, user_data=None,
        )  # fmt: skip


def restart(member: Member, lots: np.random.Generator) -> Member:
    """Return the restarted member; without instance id it gets a new member id."""
    return replace(member, id=_drawn_id(member, None, lots), instance_id=None, user_data=None)


def _drawn_id(like: Member, instance: str | None, lots: np.random.Generator) -> str:
    """``client.id-UUID`` or ``group.instance.id-UUID`` in classic groups, else Kafka's Uuid of 22 characters."""
    drawn = uuid.UUID(bytes=lots.bytes(16), version=4)
    prefix = like.instance_id or like.client_id
    if prefix and like.id.startswith(f"{prefix}-"):
        return f"{instance or like.client_id or prefix}-{drawn}"
    return uuid_text(drawn.bytes)


def _split_instance(instance: str) -> tuple[str, int]:
    """``archiver-5`` → prefix and number; ``NAME-`` and 0 without a number."""
    match = _NUMBERED.fullmatch(instance)
    return (match[1], int(match[2])) if match else (f"{instance}-", 0)


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class NewPartitions:
    """Rows to add. ``loads``: of each row by kind; a missing kind is unknown."""

    rows: list[Partition]
    loads: Mapping[LoadKind, float]


def with_partitions(snapshot: ClusterSnapshot, topics: tuple[Topic, ...], new: NewPartitions) -> ClusterSnapshot:
    """Return the larger snapshot; ``topics``: the existing ones in order, then new ones."""
    index = {topic.name: number for number, topic in enumerate(topics)}
    table = _join(snapshot.partitions, partition_table(new.rows, index))
    order = np.lexsort((table.partition, table.topic)).astype(np.int64)
    columns = {}
    for kind, column in snapshot.loads.columns.items():
        added = np.full(len(new.rows), new.loads.get(kind, np.nan))
        columns[kind] = LoadColumn(np.concatenate((column.values, added))[order], column.source, column.window_s)
    return replace(snapshot, topics=topics, partitions=_select_rows(table, order), loads=PartitionLoads(columns))


def without_topics(snapshot: ClusterSnapshot, gone: frozenset[str]) -> ClusterSnapshot:
    stays = np.array([topic.name not in gone for topic in snapshot.topics], dtype=np.bool_)
    number = (np.cumsum(stays) - 1).astype(np.int32)
    rows = np.flatnonzero(stays[snapshot.partitions.topic]).astype(np.int64)
    table = _select_rows(snapshot.partitions, rows)
    columns = {
        kind: LoadColumn(column.values[rows], column.source, column.window_s)
        for kind, column in snapshot.loads.columns.items()
    }
    return replace(
        snapshot,
        topics=tuple(topic for topic in snapshot.topics if topic.name not in gone),
        partitions=replace(table, topic=number[table.topic]),
        loads=PartitionLoads(columns),
    )


def _select_rows(table: PartitionTable, rows: Longs) -> PartitionTable:
    counts = table.replica_counts[rows]
    offsets = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(counts, dtype=np.int64)))
    cells = np.arange(int(offsets[-1])) - np.repeat(offsets[:-1], counts) + np.repeat(table.offsets[:-1][rows], counts)
    index_of = {row: at for at, row in enumerate(rows.tolist())} if _has_few(table) else {}

    def renumber(by_row: Mapping[int, T]) -> dict[int, T]:
        return dict(sorted((index_of[row], value) for row, value in by_row.items() if row in index_of))

    return PartitionTable(
        topic=table.topic[rows],
        partition=table.partition[rows],
        offsets=offsets,
        replicas=table.replicas[cells],
        leader=table.leader[rows],
        replica_log_bytes=table.replica_log_bytes[cells],
        start_offset=table.start_offset[rows],
        end_offset=table.end_offset[rows],
        in_sync=None if table.in_sync is None else table.in_sync[cells],
        adding=renumber(table.adding),
        removing=renumber(table.removing),
        offline=renumber(table.offline),
        observers=renumber(table.observers),
        eligible=renumber(table.eligible),
        log_dir=None if table.log_dir is None else table.log_dir[cells],
        future=renumber(table.future),
        local_start_offset=renumber(table.local_start_offset),
    )


def _has_few(table: PartitionTable) -> bool:
    by_row = (table.adding, table.removing, table.offline, table.observers, table.eligible, table.future)
    return any(by_row) or bool(table.local_start_offset)


def _join(table: PartitionTable, new: PartitionTable) -> PartitionTable:
    """New rows have no rare values; they are in sync where the ISR of the others is known."""
    return replace(
        table,
        topic=np.concatenate((table.topic, new.topic)),
        partition=np.concatenate((table.partition, new.partition)),
        offsets=np.concatenate((table.offsets, table.offsets[-1] + new.offsets[1:])),
        replicas=np.concatenate((table.replicas, new.replicas)),
        leader=np.concatenate((table.leader, new.leader)),
        replica_log_bytes=np.concatenate((table.replica_log_bytes, new.replica_log_bytes)),
        start_offset=np.concatenate((table.start_offset, new.start_offset)),
        end_offset=np.concatenate((table.end_offset, new.end_offset)),
        in_sync=_in_sync(table, new),
        log_dir=_log_dirs(table, new),
    )


def _in_sync(table: PartitionTable, new: PartitionTable) -> Flags | None:
    if table.in_sync is None and len(table):
        return None
    there = np.zeros(0, dtype=np.bool_) if table.in_sync is None else table.in_sync
    return np.concatenate((there, np.ones(len(new.replicas), dtype=np.bool_)))


def _log_dirs(table: PartitionTable, new: PartitionTable) -> Ints | None:
    if table.log_dir is None:
        return None
    return np.concatenate((table.log_dir, np.full(len(new.replicas), UNKNOWN_DIR, dtype=np.int32)))


MOST_NEW_PARTITIONS = 100_000


@dataclass(frozen=True, slots=True)
class PartitionsAdded:
    """More partitions, with the first one's replica count; writes spread over all."""

    topic: str
    count: int

    def applied(self, snapshot: ClusterSnapshot, seed: int) -> ClusterSnapshot:
        require_known("topic", (self.topic,), (topic.name for topic in snapshot.topics))
        number = next(at for at, topic in enumerate(snapshot.topics) if topic.name == self.topic)
        table = snapshot.partitions
        rows = np.flatnonzero(table.topic == number)
        if not len(rows):
            raise InvalidInputError.at(f"topic {self.topic}", "none of its partitions was seen", "nothing can be added")
        first = int(table.partition[rows[-1]]) + 1
        if first + self.count - 1 > LARGEST_INT32:
            raise InvalidInputError.at(f"topic {self.topic}", f"{self.count} more partitions are too many")
        places = _place(snapshot, self.topic, self.count, int(table.replica_counts[rows[0]]), seed)
        new = NewPartitions(_empty(self.topic, first, places), dict.fromkeys(LoadKind, 0.0))
        changed = with_partitions(snapshot, snapshot.topics, new)
        loads = _spread(changed, slice(int(rows[0]), int(rows[0]) + len(rows) + self.count), len(rows))
        groups = tuple(_at_the_start(group, self.topic, range(first, first + self.count)) for group in snapshot.groups)
        return replace(changed, loads=loads, groups=groups)


@dataclass(frozen=True, slots=True)
class TopicAdded:
    """New topic; rates are totals, ``None`` where unknown.

    Groups whose whole name matches ``groups`` subscribe to it; default: none.
    """

    topic: str
    partitions: int
    replication_factor: int
    in_bytes_per_s: float | None = None
    out_bytes_per_s: float | None = None
    in_messages_per_s: float | None = None
    cpu_percent: float | None = None
    log_bytes: int = 0
    groups: str | None = None

    def __post_init__(self) -> None:
        if fault := topic_name_fault(self.topic):
            raise InvalidInputError.at(f"topic {excerpt(self.topic)}", fault)
        if self.groups is not None:
            require_pattern("topic_added, groups", self.groups)

    def applied(self, snapshot: ClusterSnapshot, seed: int) -> ClusterSnapshot:
        if any(topic.name == self.topic for topic in snapshot.topics):
            raise InvalidInputError.at(f"topic {self.topic}", "is in the cluster already", "use partitions_added")
        places = _place(snapshot, self.topic, self.partitions, self.replication_factor, seed)
        has_ids = bool(snapshot.topics) and all(topic.topic_id is not None for topic in snapshot.topics)
        lots = lots_of(self.topic, "topic_added", seed)
        topic = Topic(self.topic, drawn_topic_id(lots) if has_ids else None)
        new = NewPartitions(_empty(self.topic, 0, places, self.log_bytes // self.partitions), self._loads())
        changed = with_partitions(snapshot, (*snapshot.topics, topic), new)
        if self.groups is None:
            return changed
        readers = groups_with_members(snapshot, self.groups)
        groups = (_subscribe(group, self.topic) if group.id in readers else group for group in snapshot.groups)
        return replace(changed, groups=tuple(groups))

    def _loads(self) -> dict[LoadKind, float]:
        given = {
            LoadKind.LOG_BYTES: self.log_bytes, LoadKind.IN_BYTES_PER_S: self.in_bytes_per_s,
            LoadKind.OUT_BYTES_PER_S: self.out_bytes_per_s, LoadKind.IN_MESSAGES_PER_S: self.in_messages_per_s,
            LoadKind.CPU_PERCENT: self.cpu_percent,
        }  # fmt: skip
        return {kind: total / self.partitions for kind, total in given.items() if total is not None}


@dataclass(frozen=True, slots=True)
class TopicRemoved:
    """Matching topics are deleted; subscriptions to them stay."""

    topics: str

    def __post_init__(self) -> None:
        require_pattern("topic_removed, topics", self.topics)

    def applied(self, snapshot: ClusterSnapshot, seed: int) -> ClusterSnapshot:
        del seed  # no draws
        gone = matching("topic", self.topics, (topic.name for topic in snapshot.topics))
        return replace(without_topics(snapshot, gone), groups=tuple(_unread(group, gone) for group in snapshot.groups))


def _place(snapshot: ClusterSnapshot, topic: str, count: int, factor: int, seed: int) -> list[tuple[int, ...]]:
    unresponsive = {broker.id for broker in snapshot.brokers if broker.state.is_unresponsive}
    brokers = [
        broker for broker in placement_brokers(snapshot) if broker.id not in unresponsive and not broker.is_fenced
    ]
    try:
        places = place_striped(brokers, count, factor, java_random(seed))
    except PlacementError as error:
        raise InvalidInputError.at(f"topic {topic}", str(error)) from error
    return [tuple(row) for row in places.tolist()]


def _empty(topic: str, first: int, places: Sequence[tuple[int, ...]], log_bytes: int = 0) -> list[Partition]:
    return [
        Partition(topic, number, replicas, replicas[0], isr=replicas, log_bytes=(log_bytes,) * len(replicas),
            start_offset=0, end_offset=0)
        for number, replicas in enumerate(places, start=first)
    ]  # fmt: skip


def _spread(snapshot: ClusterSnapshot, rows: slice, old_count: int) -> PartitionLoads:
    columns = dict(snapshot.loads.columns)
    for kind in columns.keys() - {LoadKind.LOG_BYTES}:
        values = columns[kind].values.copy()
        spread_over_all(values[rows], old_count)
        columns[kind] = LoadColumn(values, columns[kind].source, columns[kind].window_s)
    return PartitionLoads(columns)


def _at_the_start(group: Group, topic: str, partitions: range) -> Group:
    if all(commit.topic != topic for commit in group.committed):
        return group
    added = tuple(CommittedOffset(topic, partition, 0, lag=0) for partition in partitions)
    return replace(group, committed=(*group.committed, *added))


def _subscribe(group: Group, topic: str) -> Group:
    """Return the group with the topic; a member of unknown subscription is assumed to subscribe."""
    read = {name for member in group.members for name, _ in member.assigned}
    read.update(name for member in group.members for name in member.subscription or ())

    def with_topic(member: Member) -> Member:
        names = read if member.subscription is None else set(member.subscription)
        return replace(member, subscription=tuple(sorted(names | {topic})))

    return replace(group, members=tuple(with_topic(member) for member in group.members))


def _unread(group: Group, gone: frozenset[str]) -> Group:
    def left(runs: TopicPartitions) -> TopicPartitions:
        return tuple((topic, partitions) for topic, partitions in runs if topic not in gone)

    members = tuple(
        replace(
            member,
            assigned=left(member.assigned),
            owned=None if member.owned is None else left(member.owned),
            target=None if member.target is None else left(member.target),
        )
        for member in group.members
    )
    return replace(
        group, members=members, committed=tuple(commit for commit in group.committed if commit.topic not in gone)
    )


MOST_NEWCOMERS = 100_000


@dataclass(frozen=True, slots=True)
class Members:
    """Members of each matching group: a count, a factor, more, or fewer.

    One of the four is given. ``leave`` names members that go; others are drawn. ``times`` is rounded half up, at least
    1 member.
    """

    groups: str
    count: int | None = None
    times: float | None = None
    join: int | None = None
    leave: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        require_pattern("members, groups", self.groups)
        given = [value for value in (self.count, self.times, self.join) if value is not None]
        if len(given) + bool(self.leave) != 1:
            raise InvalidInputError.at("members", "expected one of count, times, join, leave")

    def applied(self, snapshot: ClusterSnapshot, seed: int) -> ClusterSnapshot:
        names = groups_with_members(snapshot, self.groups)
        if self.leave:
            there = {member.id for group in snapshot.groups if group.id in names for member in group.members}
            require_known("member", self.leave, there)
        return _with_groups(snapshot, names, lambda group: self._resize(group, seed))

    def _resize(self, group: Group, seed: int) -> Group:
        if self.leave:
            members = tuple(member for member in group.members if member.id not in self.leave)
            if not members:
                raise InvalidInputError.at(f"group {group.id}", "no member would be left", "let fewer leave")
            return replace(group, members=members)
        size, lots = self._target_size(group), lots_of(group.id, "members", seed)
        if size - len(group.members) > MOST_NEWCOMERS:
            raise InvalidInputError.at(f"group {group.id}", f"{size:,} members are too many")
        if size >= len(group.members):
            newcomers = Newcomers(group.members, lots).draw(size - len(group.members))
            return replace(group, members=(*group.members, *(member for _, member in newcomers)))
        stays = sorted(lots.permutation(len(group.members))[:size].tolist())
        return replace(group, members=tuple(group.members[number] for number in stays))

    def _target_size(self, group: Group) -> int:
        count = len(group.members)
        if self.times is not None:
            return max(1, int(count * self.times + 0.5))
        return count + self.join if self.join is not None else self.count or 0


@dataclass(frozen=True, slots=True)
class MembersLost:
    """Members of a rack die; its brokers stay."""

    groups: str
    rack: str

    def __post_init__(self) -> None:
        require_pattern("members_lost, groups", self.groups)

    def applied(self, snapshot: ClusterSnapshot, seed: int) -> ClusterSnapshot:
        del seed  # no draws
        names = groups_with_members(snapshot, self.groups)
        racks = {member.rack for group in snapshot.groups if group.id in names for member in group.members}
        require_known("rack", (self.rack,), {rack for rack in racks if rack is not None})
        return _with_groups(snapshot, names, self._without_rack)

    def _without_rack(self, group: Group) -> Group:
        return replace(group, members=tuple(member for member in group.members if member.rack != self.rack))


def _with_groups(snapshot: ClusterSnapshot, names: frozenset[str], change: Callable[[Group], Group]) -> ClusterSnapshot:
    return replace(snapshot, groups=tuple(change(group) if group.id in names else group for group in snapshot.groups))


LARGEST_FACTOR = 1e6
ALL_TOPICS = ".*"


@dataclass(frozen=True, slots=True)
class Growth:
    """Rates and CPU of matching topics times ``rates``, stored bytes times ``sizes``.

    Unknown loads stay unknown. Read rates of groups stay: they show what members can read.
    """

    topics: str = ALL_TOPICS
    rates: float = 1.0
    sizes: float = 1.0

    def __post_init__(self) -> None:
        require_pattern("growth, topics", self.topics)

    def applied(self, snapshot: ClusterSnapshot, seed: int) -> ClusterSnapshot:
        del seed  # no draws
        names = matching("topic", self.topics, (topic.name for topic in snapshot.topics))
        grows = np.array([topic.name in names for topic in snapshot.topics], dtype=np.bool_)
        rows: Flags = grows[snapshot.partitions.topic]
        columns = {
            kind: LoadColumn(
                _times(column.values, rows, self.sizes if kind is LoadKind.LOG_BYTES else self.rates),
                column.source,
                column.window_s,
            )
            for kind, column in snapshot.loads.columns.items()
        }
        return replace(
            snapshot, partitions=_larger(snapshot.partitions, rows, self.sizes), loads=PartitionLoads(columns)
        )


def _times(values: Floats, rows: Flags, factor: float) -> Floats:
    return np.where(rows, values * factor, values)


def _larger(table: PartitionTable, rows: Flags, factor: float) -> PartitionTable:
    sizes = table.replica_log_bytes
    grows = rows[table.row_of_replica] & (sizes != UNKNOWN_BYTES)
    if factor == 1.0 or not grows.any():
        return table
    # int64 must hold them until the snapshot refuses sizes above LARGEST_BYTES.
    grown = np.minimum(np.rint(sizes[grows] * factor), _LARGEST_EXACT)
    larger = sizes.copy()
    larger[grows] = grown.astype(np.int64)
    return replace(table, replica_log_bytes=larger)


_LARGEST_EXACT = 2.0**62
