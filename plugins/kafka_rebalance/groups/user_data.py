"""User data of Kafka's sticky strategies: what a member owned when it joined, and in which generation.

Layout V1 is a list of (topic, list of partitions) and an int32, the generation; V0 (Java up to 2.2) ends before it.
``cooperative-sticky`` of Java puts the generation alone. What is owned then stands in the subscription itself.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import StrEnum

from kafka_rebalance.groups.protocol_reader import OddBytesError, ProtocolReader
from kafka_rebalance.snapshot.group import TopicPartitions

_GENERATION_BYTES = 4


class Layout(StrEnum):
    """What the bytes are."""

    ABSENT = "none"
    EMPTY = "empty"
    OWNED_AND_GENERATION = "V1"
    OWNED = "V0"
    GENERATION = "generation"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class UserData:
    """``owned`` and ``generation`` as far as the layout has them; a generation below 0 is none."""

    layout: Layout
    owned: TopicPartitions | None = None
    generation: int | None = None


def decode_user_data(data: bytes | None, protocol: str | None) -> UserData:
    """Of a member of a group that runs ``protocol``: four zeros are a generation to one and an empty V0 to another."""
    if not data:
        return UserData(Layout.ABSENT if data is None else Layout.EMPTY)
    if protocol == "cooperative-sticky" and len(data) == _GENERATION_BYTES:
        return UserData(Layout.GENERATION, generation=_told(struct.unpack(">i", data)[0]))
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
    return UserData(Layout.OWNED_AND_GENERATION, owned, _told(generation))


def _told(generation: int) -> int | None:
    return generation if generation >= 0 else None
