"""Subscription and assignment of a classic consumer, out of the bytes that DescribeGroups carries (consumer protocol).

Read member by member, so that one odd member spoils nothing but itself. Newer versions than are known here are read as
the newest known one, as every client does; what follows is left alone.
"""

from __future__ import annotations

from dataclasses import dataclass

from kafka_rebalance.groups.protocol_reader import OddBytesError, ProtocolReader
from kafka_rebalance.snapshot.model import TopicPartitions

_NEWEST_SUBSCRIPTION = 3

__all__ = ["OddBytesError", "Subscription", "decode_assignment", "decode_subscription"]


@dataclass(frozen=True, slots=True)
class Subscription:
    """What a member said when it joined; ``owned``, ``generation`` and ``rack`` are newer than version 0."""

    version: int
    topics: tuple[str, ...]
    user_data: bytes | None
    owned: TopicPartitions | None
    generation: int | None
    rack: str | None


def decode_subscription(data: bytes) -> Subscription:
    """ConsumerProtocolSubscription, versions 0 to 3. Raises OddBytesError."""
    reader = ProtocolReader(data)
    said_version = reader.version()
    version = min(said_version, _NEWEST_SUBSCRIPTION)
    topics = tuple(reader.string() for _ in range(reader.count()))
    user_data = reader.nullable_bytes()
    owned = reader.topic_partitions() if version >= 1 else None
    generation = reader.int32() if version >= 2 else None
    rack = reader.nullable_string() if version >= 3 else None
    said = None if generation is None or generation < 0 else generation
    return Subscription(said_version, topics, user_data, owned, said, rack or None)


def decode_assignment(data: bytes) -> TopicPartitions:
    """ConsumerProtocolAssignment: topics in the order given, each once. Raises OddBytesError."""
    reader = ProtocolReader(data)
    reader.version()
    return reader.topic_partitions()
