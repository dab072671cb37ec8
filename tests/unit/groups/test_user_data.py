from __future__ import annotations

import struct
from random import Random

import pytest

from kafka_rebalance.groups.subscriptions import Layout, OddBytesError, ProtocolReader, UserData, decode_user_data

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


def written(topics: list[tuple[str, list[int]]]) -> bytes:
    """The layout of topics with partitions, as Kafka's clients write it."""
    parts = [struct.pack(">i", len(topics))]
    for name, numbers in topics:
        raw = name.encode()
        parts.append(struct.pack(f">h{len(raw)}si{len(numbers)}i", len(raw), raw, len(numbers), *numbers))
    return b"".join(parts)


def test_what_clients_write_is_read_to_its_end_and_every_cut_of_it_is_odd() -> None:
    draw = Random(4)
    for _ in range(40):
        topics = [(draw.choice("aéz") * draw.randint(0, 3), draw.choices(range(-1, 3000), k=draw.randint(0, 4)))
                  for _ in range(draw.randint(0, 3))]  # fmt: skip
        data = written(topics)
        reader, merged = ProtocolReader(data), {name: [] for name, _ in topics}
        for name, numbers in topics:
            merged[name] += numbers
        assert reader.topic_partitions() == tuple((name, tuple(numbers)) for name, numbers in merged.items())
        assert reader.is_at_end
        cut = ProtocolReader(data[: draw.randrange(len(data))])
        with pytest.raises(OddBytesError):
            cut.topic_partitions()


def test_numbers_names_and_bytes_at_the_edge_of_what_they_may_be() -> None:
    for number in (0, 1, 32_767):
        assert ProtocolReader(struct.pack(">h", number)).version() == number
    for count in (0, 1, 10_000_000):
        assert ProtocolReader(struct.pack(">i", count)).count() == count
    reader = ProtocolReader(struct.pack(">h1sh", 1, b"a", -1) + struct.pack(">i2si", 2, b"xy", -1))
    assert [reader.string(), reader.nullable_string()] == ["a", None]
    assert [reader.nullable_bytes(), reader.nullable_bytes(), reader.is_at_end] == [b"xy", None, True]
    assert (ProtocolReader(bytes(2)).string(), ProtocolReader(bytes(4)).nullable_bytes()) == ("", b"")
    odd = {
        ProtocolReader.version: struct.pack(">h", -1),
        ProtocolReader.string: struct.pack(">h", -1),
        ProtocolReader.nullable_string: struct.pack(">h", 1) + b"\xff",
        ProtocolReader.nullable_bytes: struct.pack(">i", 1),
    }
    for read, data in [*odd.items(), (ProtocolReader.count, struct.pack(">i", -1)),
                       (ProtocolReader.count, struct.pack(">i", 10_000_001))]:  # fmt: skip
        with pytest.raises(OddBytesError):
            read(ProtocolReader(data))
