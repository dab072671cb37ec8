"""Subscriptions where the input lacks them, and a reader of Kafka's consumer protocol.

Kafka's tools print assigned partitions, not subscriptions. Two hypotheses: all members subscribe to all topics of the
group; or each to its own (two services share a group id). The one that reproduces today's assignment counts.

User data of sticky strategies: V1 is a list of (topic, partitions) and an int32, the generation; V0 (Java up to 2.2)
has no generation. Java's ``cooperative-sticky`` writes the generation alone, and the owned partitions into the
subscription.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import StrEnum

from kafka_assignors.contract import AssignmentRequest
from kafka_rebalance.groups.group_input import GroupInput
from kafka_rebalance.groups.request_frame import Subscriptions, frame_of, owned_partitions
from kafka_rebalance.snapshot.group import TopicPartitions
from kafka_rebalance.snapshot.model import Member


class SubscriptionBasis(StrEnum):
    GIVEN = "given"
    ALL_ALIKE = "all_alike"  # assumed: all members have all topics
    AS_READ = "as_read"  # assumed: each member has the topics that it reads


def hypotheses(group_input: GroupInput) -> list[tuple[SubscriptionBasis, Subscriptions]]:
    """Return the given subscriptions; else both hypotheses, the likelier first."""
    members = group_input.group.members
    index = {topic: number for number, topic in enumerate(group_input.topics)}
    if all(_has_known_topics(member) for member in members):
        return [(SubscriptionBasis.GIVEN, tuple(_topic_indices(member, index) for member in members))]
    every = tuple(range(len(group_input.topics)))
    alike = tuple(_topic_indices(member, index) if _has_known_topics(member) else every for member in members)
    as_read = tuple(
        _topic_indices(member, index)
        if _has_known_topics(member)
        else tuple(sorted({index[topic] for topic in _read_by(member)}))
        for member in members
    )
    answers = [(SubscriptionBasis.ALL_ALIKE, alike)]
    readers = [topic for topics in as_read for topic in topics]
    # With one reader for every topic, "as it reads" explains any assignment.
    is_telling = as_read != alike and len(set(readers)) < len(readers)
    return [*answers, (SubscriptionBasis.AS_READ, as_read)] if is_telling else answers


def has_unknown_subscription(group_input: GroupInput, basis: SubscriptionBasis) -> bool:
    """Whether a member without partitions hides its subscription: then no bound holds."""
    return basis is SubscriptionBasis.AS_READ and any(
        not _has_known_topics(member) and not _read_by(member) for member in group_input.group.members
    )


def request_of(
    group_input: GroupInput, subscriptions: Subscriptions, *, is_server: bool = False, as_listed: bool = False
) -> AssignmentRequest:
    """Return the request of the leader, or coordinator (``is_server``). Every member owns what it reads today (to a
    coordinator: its target), in one generation. Members are in ``feeding_order``, or ``as_listed``.
    """
    frame = frame_of(group_input, subscriptions, is_server=is_server, as_listed=as_listed)
    return frame.of_owned(*owned_partitions(group_input, is_server=is_server))


def _read_by(member: Member) -> set[str]:
    return {topic for topic, _ in (*member.assigned, *(member.target or ()))}


def _has_known_topics(member: Member) -> bool:
    """The coordinator resolves a regular expression, so its topics are unknown."""
    return member.subscription is not None and member.subscribed_regex is None


def _topic_indices(member: Member, index: dict[str, int]) -> tuple[int, ...]:
    return tuple(index[topic] for topic in member.subscription or ())


_MOST_ENTRIES = 10_000_000


class OddBytesError(ValueError):
    """Bytes that violate the consumer protocol."""


class ProtocolReader:
    """Reads forward; raises OddBytesError naming the place."""

    def __init__(self, data: bytes) -> None:
        self._data = bytes(data)
        self._at = 0

    @property
    def is_at_end(self) -> bool:
        return self._at == len(self._data)

    def take(self, size: int) -> bytes:
        end = self._at + size
        if size < 0 or end > len(self._data):
            raise OddBytesError(f"{size} bytes are wanted at byte {self._at} of {len(self._data)}")
        part = self._data[self._at : end]
        self._at = end
        return part

    def _number(self, kind: str, size: int) -> int:
        return int(struct.unpack(kind, self.take(size))[0])

    def int32(self) -> int:
        return self._number(">i", 4)

    def int16(self) -> int:
        return self._number(">h", 2)

    def int64(self) -> int:
        return self._number(">q", 8)

    def version(self) -> int:
        version = self.int16()
        if version < 0:
            raise OddBytesError(f"version {version}")
        return version

    def count(self) -> int:
        count = self.int32()
        if not 0 <= count <= _MOST_ENTRIES:
            raise OddBytesError(f"a list of {count} entries")
        return count

    def string(self) -> str:
        text = self.nullable_string()
        if text is None:
            raise OddBytesError("a name is missing")
        return text

    def nullable_string(self) -> str | None:
        size = self.int16()
        try:
            return None if size < 0 else self.take(size).decode()
        except UnicodeDecodeError:
            raise OddBytesError(f"a name before byte {self._at} is no UTF-8") from None

    def nullable_bytes(self) -> bytes | None:
        size = self.int32()
        return None if size < 0 else self.take(size)

    def nullable_runs(self) -> list[tuple[str, tuple[int, ...]]]:
        """Names with int32 lists; a length of −1 is none."""
        count = self.int32()
        if not -1 <= count <= _MOST_ENTRIES:
            raise OddBytesError(f"a list of {count} entries")
        return [(self.string(), tuple(self.int32() for _ in range(self.count()))) for _ in range(count)]

    def topic_partitions(self) -> TopicPartitions:
        """Each topic once, by first appearance: librdkafka repeats it for every partition."""
        partitions_of: dict[str, list[int]] = {}
        for _ in range(self.count()):
            partitions_of.setdefault(self.string(), []).extend(self.int32() for _ in range(self.count()))
        return tuple((topic, tuple(partitions)) for topic, partitions in partitions_of.items())


_GENERATION_BYTES = 4


class Layout(StrEnum):
    ABSENT = "none"
    EMPTY = "empty"
    OWNED_AND_GENERATION = "V1"
    OWNED = "V0"
    GENERATION = "generation"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class UserData:
    """``owned`` and ``generation`` if in the layout; a negative generation is None."""

    layout: Layout
    owned: TopicPartitions | None = None
    generation: int | None = None


def decode_user_data(data: bytes | None, protocol: str | None) -> UserData:
    """Return the data by protocol: four zero bytes may be a generation or an empty V0."""
    if not data:
        return UserData(Layout.ABSENT if data is None else Layout.EMPTY)
    if protocol == "cooperative-sticky" and len(data) == _GENERATION_BYTES:
        return UserData(Layout.GENERATION, generation=_known_generation(struct.unpack(">i", data)[0]))
    if protocol not in ("sticky", "cooperative-sticky"):
        return UserData(Layout.OTHER)
    reader = ProtocolReader(data)
    try:
        owned = reader.topic_partitions()
        if reader.is_at_end:
            return UserData(Layout.OWNED, owned)
        generation = reader.int32()
    except OddBytesError:
        return UserData(Layout.OTHER)
    return UserData(Layout.OWNED_AND_GENERATION, owned, _known_generation(generation))


def _known_generation(generation: int) -> int | None:
    return generation if generation >= 0 else None
