"""What a rebalance does to reading: each request and phase with its time, and who stops reading what, and how long.

Times are milliseconds after the trigger. The clock of each member is given (``heartbeat_offset_ms``), so a replay is
exact and the same every time; network and assignor take no time unless ``round_trip_ms`` says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

Partition = tuple[str, int]
Holding = Mapping[str, frozenset[Partition]]


class Protocol(StrEnum):
    """How members give partitions up."""

    EAGER = "eager"
    COOPERATIVE = "cooperative"  # KIP-429
    CONSUMER = "consumer"  # KIP-848


class Trigger(StrEnum):
    """What starts it (seed article 002, corrected)."""

    MEMBER_JOINS = "member_joins"
    MEMBER_DIES = "member_dies"
    MEMBER_LEAVES = "member_leaves"
    STATIC_RESTART = "static_restart"
    SUBSCRIPTION_CHANGES = "subscription_changes"
    PARTITION_COUNT_CHANGES = "partition_count_changes"
    COORDINATOR_MOVES = "coordinator_moves"


class Phase(StrEnum):
    """Kafka's requests, and what the coordinator and the members do between them."""

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
    """Timeouts and intervals in ms; the defaults are those of Kafka 3.0 and later (KIP-735)."""

    session_ms: int = 45_000
    heartbeat_ms: int = 3_000
    rebalance_ms: int = 300_000
    consumer_heartbeat_ms: int = 5_000  # KIP-848, set by the broker
    metadata_max_age_ms: int = 300_000
    round_trip_ms: int = 0
    restart_ms: int = 10_000  # how long a restarted member is away
    heartbeat_offset_ms: Mapping[str, int] = field(default_factory=dict)  # a member's first beat after the trigger
    poll_delay_ms: Mapping[str, int] = field(default_factory=dict)  # how long a member works before it polls again

    def next_beat(self, member: str, at_ms: int, interval_ms: int) -> int:
        """First heartbeat of ``member`` at or after ``at_ms``."""
        first = self.heartbeat_offset_ms.get(member, interval_ms)
        beats = max(0, -(-(at_ms - first) // interval_ms))
        return first + beats * interval_ms


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happens."""

    at_ms: int
    member: str
    phase: Phase
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Pause:
    """Nobody reads ``partition`` from ``from_ms`` to ``to_ms``; it goes from one member to the other (or the same)."""

    partition: Partition
    from_ms: int
    to_ms: int
    member_before: str | None
    member_after: str | None


@dataclass(frozen=True, slots=True)
class Timeline:
    """Everything that happened, in order, and every pause in reading; ``rebalances`` counts generations or epochs."""

    events: tuple[Event, ...]
    pauses: tuple[Pause, ...]
    rebalances: int

    @property
    def longest_pause_ms(self) -> int:
        """The worst that any partition suffers."""
        return max((pause.to_ms - pause.from_ms for pause in self.pauses), default=0)

    @property
    def ends_at_ms(self) -> int:
        """When the last event is over."""
        return max((event.at_ms for event in self.events), default=0)


@dataclass(frozen=True, slots=True)
class Change:
    """A trigger with the assignment before and after it. ``subject`` is the member (or topic) it is about.

    ``leader`` computes the assignment of a classic group and watches its topics' metadata. ``dropped_topics`` are those
    that ``subject`` no longer subscribes to: under cooperative it gives them up before it rejoins.
    """

    trigger: Trigger
    subject: str
    before: Holding
    after: Holding
    leader: str = ""
    dropped_topics: frozenset[str] = frozenset()

    @property
    def stays(self) -> tuple[str, ...]:
        """Members that take part before and after, sorted."""
        gone = {self.subject} if self.trigger in (Trigger.MEMBER_DIES, Trigger.MEMBER_LEAVES) else set()
        new = {self.subject} if self.trigger is Trigger.MEMBER_JOINS else set()
        return tuple(sorted((set(self.before) | set(self.after)) - gone - new))

    @property
    def owner_before(self) -> dict[Partition, str]:
        """Partition → member."""
        return {partition: member for member in sorted(self.before) for partition in self.before[member]}

    @property
    def owner_after(self) -> dict[Partition, str]:
        """Partition → member."""
        return {partition: member for member in sorted(self.after) for partition in self.after[member]}


def pauses_between(
    change: Change, stopped: Mapping[Partition, int], started: Mapping[Partition, int]
) -> tuple[Pause, ...]:
    """Pauses from the moments at which reading stopped and started; a partition without both had none."""
    before, after = change.owner_before, change.owner_after
    return tuple(
        Pause(partition, stopped[partition], started[partition], before.get(partition), after.get(partition))
        for partition in sorted(stopped)
        if partition in started and started[partition] > stopped[partition]
    )


def in_order(events: list[Event]) -> tuple[Event, ...]:
    """By time; at one time in the order in which they were caused."""
    return tuple(sorted(events, key=lambda event: event.at_ms))
