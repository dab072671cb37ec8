"""Events of a rebalance, and how long each partition pauses, in ms after the first trigger.

Network and assignor take no time unless ``round_trip_ms`` is set. A trigger may follow before the first one has settled
(``at_ms``). ``stagger`` spreads unknown clocks evenly. ``Change`` describes a trigger for a replay, ``Step`` the same
for kernels, with members numbered from 0 to ``member_count`` - 1, before and after together. Example: members 0 and 1
with four partitions, 2 joins::

    Step(Trigger.MEMBER_JOINS, subject=2, before=[0, 0, 1, 1], after=[0, 2, 1, 1], member_count=3)
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import lru_cache

import numpy as np

from kafka_assignors.arrays import ABSENT, Flags, Ints, Longs
from kafka_assignors.errors import InvalidInputError
from kafka_assignors.kernels import inlined_kernel

Partition = tuple[str, int]
Holding = Mapping[str, frozenset[Partition]]


class Protocol(StrEnum):
    EAGER = "eager"
    COOPERATIVE = "cooperative"
    CONSUMER = "consumer"


class Trigger(StrEnum):
    MEMBER_JOINS = "member_joins"
    MEMBER_DIES = "member_dies"
    MEMBER_LEAVES = "member_leaves"
    MEMBER_STALLS = "member_stalls"  # KIP-62: leaves at the end of its poll interval
    STATIC_RESTART = "static_restart"
    SUBSCRIPTION_CHANGES = "subscription_changes"
    PARTITION_COUNT_CHANGES = "partition_count_changes"
    COORDINATOR_MOVES = "coordinator_moves"


_SUBJECT_GOES = (Trigger.MEMBER_DIES, Trigger.MEMBER_LEAVES, Trigger.MEMBER_STALLS)


class Phase(StrEnum):
    FIND_COORDINATOR = "FindCoordinator"
    JOIN_GROUP = "JoinGroup"
    SYNC_GROUP = "SyncGroup"
    HEARTBEAT = "Heartbeat"
    LEAVE_GROUP = "LeaveGroup"
    SESSION_EXPIRED = "session expired"
    METADATA = "metadata refreshed"
    REVOKE = "revoke"
    ASSIGN = "assign"


@dataclass(frozen=True, slots=True)
class Times:
    """In ms; the defaults are those of Kafka 3.0 and later (KIP-735).

    ``initial_delay_ms`` is group.initial.rebalance.delay.ms, ``poll_interval_ms`` max.poll.interval.ms, and
    ``assignment_interval_ms`` group.consumer.assignment.interval.ms (KIP-1263, from 4.3 on; 0 before).
    """

    session_ms: int = 45_000
    heartbeat_ms: int = 3_000
    rebalance_ms: int = 300_000
    initial_delay_ms: int = 3_000
    poll_interval_ms: int = 300_000
    consumer_heartbeat_ms: int = 5_000  # KIP-848, set by the broker
    assignment_interval_ms: int = 1_000
    metadata_max_age_ms: int = 300_000
    round_trip_ms: int = 0
    restart_ms: int = 10_000  # of a restarted member
    heartbeat_offset_ms: Mapping[str, int] = field(default_factory=dict)
    poll_delay_ms: Mapping[str, int] = field(default_factory=dict)  # until a member polls again

    def next_beat(self, member: str, at_ms: int, interval_ms: int) -> int:
        first = self.heartbeat_offset_ms.get(member, interval_ms)
        beats = max(0, -(-(at_ms - first) // interval_ms))
        return first + beats * interval_ms


@dataclass(frozen=True, slots=True)
class Event:
    at_ms: int
    member: str
    phase: Phase
    detail: str = ""
    partitions: int = 0


@dataclass(frozen=True, slots=True)
class Pause:
    """``to_ms`` None: for good. Between two members or the same."""

    partition: Partition
    from_ms: int
    to_ms: int | None
    member_before: str | None
    member_after: str | None


@dataclass(frozen=True, slots=True)
class Timeline:
    events: tuple[Event, ...]
    pauses: tuple[Pause, ...]
    rebalances: int

    @property
    def longest_pause_ms(self) -> int | None:
        lengths = [None if pause.to_ms is None else pause.to_ms - pause.from_ms for pause in self.pauses]
        return None if None in lengths else max((length for length in lengths if length is not None), default=0)


@dataclass(frozen=True, slots=True)
class Change:
    """About the member (or topic) ``subject``.

    ``leader`` assigns in a classic group and watches its topics' metadata. ``dropped_topics``: revoked by ``subject``
    before it rejoins (cooperative). ``is_static``: it has an instance id, so it sends no LeaveGroup. ``meanwhile``:
    assignment while a static member is away beyond its session. ``at_ms``: after the first trigger. ``eager_members``
    of a cooperative group also list an eager strategy: they revoke all before each join.
    """

    trigger: Trigger
    subject: str
    before: Holding
    after: Holding
    leader: str = ""
    dropped_topics: frozenset[str] = frozenset()
    is_static: bool = False
    meanwhile: Holding | None = None
    at_ms: int = 0
    eager_members: frozenset[str] = frozenset()

    @property
    def stays(self) -> tuple[str, ...]:
        gone = {self.subject} if self.trigger in _SUBJECT_GOES else set()
        new = {self.subject} if self.trigger is Trigger.MEMBER_JOINS else set()
        return tuple(sorted((set(self.before) | set(self.after)) - gone - new))

    @property
    def owner_before(self) -> dict[Partition, str]:
        return {partition: member for member in sorted(self.before) for partition in self.before[member]}

    @property
    def owner_after(self) -> dict[Partition, str]:
        return {partition: member for member in sorted(self.after) for partition in self.after[member]}


@dataclass(slots=True)
class Reading:
    owned: dict[str, set[Partition]]
    pauses: list[Pause] = field(default_factory=list)
    _open: dict[Partition, tuple[int, str | None]] = field(default_factory=dict)

    def stop(self, at_ms: int, member: str, partitions: Iterable[Partition]) -> int:
        gone = self.owned[member] & set(partitions)
        self.owned[member] -= gone
        for partition in gone:
            self._open.setdefault(partition, (at_ms, member))
        return len(gone)

    def wait(self, at_ms: int, partitions: Iterable[Partition]) -> None:
        read = set().union(*self.owned.values())
        for partition in set(partitions) - read:
            self._open.setdefault(partition, (at_ms, None))

    def start(self, at_ms: int, member: str, partitions: Iterable[Partition]) -> int:
        new = set(partitions) - self.owned[member]
        self.owned[member] |= new
        for partition in new:
            from_ms, before = self._open.pop(partition, (at_ms, None))
            if at_ms > from_ms:
                self.pauses.append(Pause(partition, from_ms, at_ms, before, member))
        return len(new)

    def all_pauses(self) -> tuple[Pause, ...]:
        endless = [Pause(partition, from_ms, None, before, None) for partition, (from_ms, before) in self._open.items()]
        return tuple(sorted((*self.pauses, *endless), key=lambda pause: (pause.partition, pause.from_ms)))


Action = Callable[[int], None]


@dataclass(slots=True)
class Run:
    """A replay under way: what happened, and what will at which time; at one time in the order of ``at``."""

    changes: tuple[Change, ...]
    times: Times
    reading: Reading
    events: list[Event] = field(default_factory=list, kw_only=True)
    agenda: list[tuple[int, int, Action]] = field(default_factory=list, kw_only=True)
    entries: int = field(default=0, kw_only=True)

    def at(self, at_ms: int, action: Action) -> None:
        heapq.heappush(self.agenda, (at_ms, self.entries, action))
        self.entries += 1

    def act(self) -> None:
        at_ms, _, action = heapq.heappop(self.agenda)
        action(at_ms)

    def say(self, at_ms: int, member: str, phase: Phase, detail: str = "", partitions: int = 0) -> None:
        self.events.append(Event(at_ms, member, phase, detail, partitions))

    def timeline(self, rebalances: int) -> Timeline:
        events = tuple(sorted(self.events, key=lambda event: event.at_ms))
        return Timeline(events, self.reading.all_pauses(), rebalances)


def chain_of(changes: Sequence[Change], times: Times, heartbeat_ms: int) -> tuple[Change, ...]:
    """In the coordinator's order: a static member away beyond its session dies, and joins later. A death is known at
    the end of the session, so ``at_ms`` need not rise.

    Raises InvalidInputError for changes that do not follow each other, and for a missing ``meanwhile``.
    """
    chain: list[Change] = []
    for number, change in enumerate(changes):
        if chain and change.before != chain[-1].after:
            raise InvalidInputError.at(
                f"change {number}",
                "does not begin with what the one before it ends with",
                "list them as they are learned of",
            )
        chain += _static_restart(change, times, heartbeat_ms)
    return tuple(chain)


def _static_restart(change: Change, times: Times, heartbeat_ms: int) -> list[Change]:
    if change.trigger is not Trigger.STATIC_RESTART:
        return [change]
    member, at = change.subject, change.at_ms
    expires = times.next_beat(member, at, heartbeat_ms) - heartbeat_ms + times.session_ms - at
    if times.restart_ms <= expires:
        return [change]
    if change.meanwhile is None:
        raise InvalidInputError.at(
            f"static member {member}", f"is away for {times.restart_ms} ms, its session ends after {expires} ms",
            "say what the others have meanwhile (meanwhile)",
        )  # fmt: skip
    dies = replace(change, trigger=Trigger.MEMBER_DIES, after=change.meanwhile, is_static=True)
    back = replace(change, trigger=Trigger.MEMBER_JOINS, before=change.meanwhile, is_static=True)
    return [dies, replace(back, at_ms=at + times.restart_ms)]


_ABOUT_NO_MEMBER = (Trigger.PARTITION_COUNT_CHANGES, Trigger.COORDINATOR_MOVES)


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """On a settled group: reader of each partition that exists after it, or ``ABSENT``.

    Other fields as in ``Change``; ``dropped`` are partitions.
    """

    trigger: Trigger
    subject: int
    before: Ints
    after: Ints
    member_count: int
    is_static: bool = False
    leader: int = 0
    meanwhile: Ints | None = None
    dropped: Flags | None = None

    def __post_init__(self) -> None:
        columns = {"before": self.before, "after": self.after, "meanwhile": self.meanwhile}
        for name, values in columns.items():
            if values is not None:
                object.__setattr__(self, name, _read_only(values, np.int32))
        if self.dropped is not None:
            object.__setattr__(self, "dropped", _read_only(self.dropped, np.bool_))
        if any(values is not None and len(values) != len(self.before) for values in (*columns.values(), self.dropped)):
            raise InvalidInputError.at(f"{self.trigger}", "the columns of partitions are not equally long")
        is_about_member = self.trigger not in _ABOUT_NO_MEMBER
        if is_about_member and not 0 <= self.subject < self.member_count:
            raise InvalidInputError.at(f"{self.trigger}", f"no member {self.subject} among {self.member_count}")
        if self.trigger is Trigger.PARTITION_COUNT_CHANGES and not 0 <= self.leader < self.member_count:
            raise InvalidInputError.at(f"{self.trigger}", f"no leader {self.leader} among {self.member_count} members")

    @property
    def is_empty_before(self) -> bool:
        return self.trigger is Trigger.MEMBER_JOINS and self.member_count == 1


def _read_only(values: Ints | Flags, kind: type[np.generic]) -> Ints | Flags:
    column = np.ascontiguousarray(values, kind).view()
    column.flags.writeable = False
    return column


def holdings(column: Ints) -> dict[int, list[int]]:
    held: dict[int, list[int]] = {}
    for partition, member in enumerate(column.tolist()):
        if member != ABSENT:
            held.setdefault(member, []).append(partition)
    return held


def interval_of(protocol: Protocol, times: Times) -> int:
    return times.consumer_heartbeat_ms if protocol is Protocol.CONSUMER else times.heartbeat_ms


def stagger(protocol: Protocol, times: Times, members: Sequence[str]) -> Times:
    """First beats of member i of M at (i + 1) / M of an interval after the trigger."""
    interval, count = interval_of(protocol, times), len(members)
    first = {member: first_beat(number, count, interval) for number, member in enumerate(members)}
    return replace(times, heartbeat_offset_ms=first)


def first_beat(member: int, members: int, interval_ms: int) -> int:
    return interval_ms * (member + 1) // members


def session_end(protocol: Protocol, times: Times, member: int, members: int, silent_ms: int) -> int:
    """A session after its last heartbeat; silent from ``silent_ms`` on."""
    interval = interval_of(protocol, times)
    first = first_beat(member, members, interval)
    missed = first + max(0, -(-(silent_ms - first) // interval)) * interval
    return missed - interval + times.session_ms


def first_beats(members: int, interval_ms: int) -> Longs:
    return _spread(members, interval_ms).copy()


@lru_cache(maxsize=8)
def _spread(members: int, interval_ms: int) -> Longs:
    return np.arange(interval_ms, interval_ms * (members + 1), interval_ms, dtype=np.int64) // members


@inlined_kernel
def beat_from(first_ms: int, at_ms: int, interval_ms: int) -> int:
    if at_ms <= first_ms:
        return first_ms
    return first_ms + (at_ms - first_ms + interval_ms - 1) // interval_ms * interval_ms
