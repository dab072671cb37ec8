"""User data of the sticky strategies: each layout by its bytes, and what is none of them."""

from __future__ import annotations

import struct

import pytest

from kafka_rebalance.groups.protocol_reader import OddBytesError, ProtocolReader
from kafka_rebalance.groups.user_data import Layout, UserData, decode_user_data

# [("t", [0, 2])]: one topic, a name of one byte, two partitions.
OWNED = struct.pack(">ih1siii", 1, 1, b"t", 2, 0, 2)
T = (("t", (0, 2)),)


@pytest.mark.parametrize(
    ("data", "protocol", "expected"),
    [
        (None, "sticky", UserData(Layout.ABSENT)),
        (b"", "cooperative-sticky", UserData(Layout.EMPTY)),
        (OWNED + struct.pack(">i", 7), "sticky", UserData(Layout.OWNED_AND_GENERATION, T, 7)),
        (OWNED + struct.pack(">i", -1), "cooperative-sticky", UserData(Layout.OWNED_AND_GENERATION, T)),
        (OWNED, "sticky", UserData(Layout.OWNED, T)),
        (struct.pack(">i", 5), "cooperative-sticky", UserData(Layout.GENERATION, generation=5)),
        (struct.pack(">i", -1), "cooperative-sticky", UserData(Layout.GENERATION)),
        (struct.pack(">i", 0), "sticky", UserData(Layout.OWNED, ())),  # no topics
        (struct.pack(">i", 5), "sticky", UserData(Layout.OTHER)),  # five topics, and none follows
        (OWNED + b"\x00", "sticky", UserData(Layout.OTHER)),
        (OWNED, "range", UserData(Layout.OTHER)),
        (b"{}", "weighted-by-me", UserData(Layout.OTHER)),
    ],
)
def test_layouts(data: bytes | None, protocol: str, expected: UserData) -> None:
    assert decode_user_data(data, protocol) == expected


def test_a_reader_names_the_place_where_bytes_lack() -> None:
    reader = ProtocolReader(OWNED[:-1])
    with pytest.raises(OddBytesError, match="4 bytes are wanted at byte 15 of 18"):
        reader.topic_partitions()
    assert not reader.is_at_end
