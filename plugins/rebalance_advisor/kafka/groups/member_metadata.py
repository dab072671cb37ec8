"""Subscription and assignment of a classic consumer, out of the bytes that DescribeGroups carries (consumer protocol).

Read member by member, so that one odd member spoils nothing but itself. Newer versions than are known here are read as
the newest known one, as every client does; what follows is left alone.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from kafka_rebalance.snapshot.model import TopicPartitions

_NEWEST_SUBSCRIPTION = 3
_MOST_ENTRIES = 10_000_000


class OddBytesError(ValueError):
    """These bytes are not what the consumer protocol says."""


@dataclass(frozen=True, slots=True)
class Subscription:
    """What a member said when it joined; ``owned``, ``generation`` and ``rack`` are newer than version 0."""

    topics: tuple[str, ...]
    user_data: bytes | None
    owned: TopicPartitions | None
    generation: int | None
    rack: str | None


def decode_subscription(data: bytes) -> Subscription:
    """ConsumerProtocolSubscription, versions 0 to 3. Raises OddBytesError."""
    reader = _Reader(data)
    version = min(reader.version(), _NEWEST_SUBSCRIPTION)
    topics = tuple(reader.string() for _ in range(reader.count()))
    user_data = reader.nullable_bytes()
    owned = reader.topic_partitions() if version >= 1 else None
    generation = reader.int32() if version >= 2 else None
    rack = reader.nullable_string() if version >= 3 else None
    said = None if generation is None or generation < 0 else generation
    return Subscription(topics, user_data, owned, said, rack or None)


def decode_assignment(data: bytes) -> TopicPartitions:
    """ConsumerProtocolAssignment: topics in the order given, each once. Raises OddBytesError."""
    reader = _Reader(data)
    reader.version()
    return reader.topic_partitions()


class _Reader:
    """Reads forward; every lack is an OddBytesError that names the place."""

    def __init__(self, data: bytes) -> None:
        self._data = bytes(data)
        self._at = 0

    def _take(self, size: int) -> bytes:
        end = self._at + size
        if size < 0 or end > len(self._data):
            raise OddBytesError(f"{size} bytes are wanted at byte {self._at} of {len(self._data)}")
        part = self._data[self._at : end]
        self._at = end
        return part

    def _number(self, kind: str, size: int) -> int:
        return int(struct.unpack(kind, self._take(size))[0])

    def int32(self) -> int:
        return self._number(">i", 4)

    def version(self) -> int:
        version = self._number(">h", 2)
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
        size = self._number(">h", 2)
        try:
            return None if size < 0 else self._take(size).decode()
        except UnicodeDecodeError:
            raise OddBytesError(f"a name before byte {self._at} is no UTF-8") from None

    def nullable_bytes(self) -> bytes | None:
        size = self.int32()
        return None if size < 0 else self._take(size)

    def topic_partitions(self) -> TopicPartitions:
        """Each topic once, in the order of first appearance: librdkafka repeats it for every partition."""
        found: dict[str, list[int]] = {}
        for _ in range(self.count()):
            found.setdefault(self.string(), []).extend(self.int32() for _ in range(self.count()))
        return tuple((topic, tuple(partitions)) for topic, partitions in found.items())
