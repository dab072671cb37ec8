import struct
from types import SimpleNamespace

import pytest

from kafka_rebalance.groups.subscriptions import OddBytesError
from kafka_rebalance.snapshot.group import Group, Tasks
from rebalance_advisor.kafka.coverage import Coverage
from rebalance_advisor.kafka.groups import decode_assignment, decode_subscription, with_members
from tests.unit.kafka.canned_cluster import gap_texts


def text(value: str) -> bytes:
    return struct.pack(">h", len(value.encode())) + value.encode()


def parts(*entries: tuple[str, list[int]]) -> bytes:
    return struct.pack(">i", len(entries)) + b"".join(
        text(topic) + struct.pack(f">i{len(numbers)}i", len(numbers), *numbers) for topic, numbers in entries
    )


def subscription(version: int, topics: list[str], user_data: bytes | None, *rest: bytes) -> bytes:
    data = struct.pack(">i", -1) if user_data is None else struct.pack(">i", len(user_data)) + user_data
    return struct.pack(">hi", version, len(topics)) + b"".join(map(text, topics)) + data + b"".join(rest)


OWNED = parts(("a", [0, 2]))
GENERATION = struct.pack(">i", 7)


def test_each_version_of_a_subscription():
    v0 = decode_subscription(subscription(0, ["b", "a"], None))
    assert (v0.topics, v0.user_data, v0.owned, v0.generation, v0.rack) == (("b", "a"), None, None, None, None)
    v1 = decode_subscription(subscription(1, ["a"], b"\x01", OWNED))
    assert (v1.user_data, v1.owned, v1.generation) == (b"\x01", (("a", (0, 2)),), None)
    v2 = decode_subscription(subscription(2, ["a"], b"", OWNED, GENERATION))
    assert (v2.user_data, v2.generation, v2.rack) == (b"", 7, None)
    v3 = decode_subscription(subscription(3, ["a"], None, OWNED, GENERATION, text("rack-1")))
    assert v3.rack == "rack-1"
    assert [decoded.version for decoded in (v0, v1, v2, v3)] == [0, 1, 2, 3]


def test_generation_minus_one_and_an_empty_rack_mean_not_said():
    result = decode_subscription(subscription(3, ["a"], None, OWNED, struct.pack(">i", -1), text("")))
    assert (result.generation, result.rack) == (None, None)
    assert decode_subscription(subscription(3, ["a"], None, OWNED, GENERATION, struct.pack(">h", -1))).rack is None


def test_a_newer_version_is_read_as_the_newest_known_one():
    result = decode_subscription(subscription(9, ["a"], None, OWNED, GENERATION, text("r"), b"what comes later"))
    assert (result.generation, result.rack) == (7, "r")


def test_librdkafka_repeats_the_topic_of_each_partition():
    data = struct.pack(">h", 0) + parts(("a", [1]), ("b", [0]), ("a", [0])) + struct.pack(">i", -1)
    assert decode_assignment(data) == (("a", (1, 0)), ("b", (0,)))


def test_an_empty_assignment():
    assert decode_assignment(struct.pack(">hi", 1, 0)) == ()


@pytest.mark.parametrize(
    "data",
    [
        b"\x00",
        struct.pack(">h", -1) + OWNED,
        struct.pack(">hi", 0, -5),
        struct.pack(">hi", 0, 2_000_000_000),
        struct.pack(">hih", 0, 1, 3) + b"\xff\xfe\xfd" + struct.pack(">i", 0),
        struct.pack(">hih", 0, 1, -1) + struct.pack(">i", 0),
        struct.pack(">hi", 0, 1) + text("a") + struct.pack(">i", 3) + b"\0\0\0\1",
    ],
)
def test_odd_bytes_are_told_as_such(data: bytes):
    with pytest.raises(OddBytesError):
        decode_assignment(data)


def test_kafka_go_says_version_1_and_ends_after_the_user_data():
    """Seen of kafka-go 0.4.51: 23 bytes. Of other versions the same is odd, and so is half a list of owned ones."""
    seen = bytes.fromhex("0001 00000002 0006") + b"orders" + bytes.fromhex("0003") + b"pay" + b"\xff" * 4
    assert len(seen) == 23
    result = decode_subscription(seen)
    assert (result.version, result.topics, result.user_data) == (1, ("orders", "pay"), None)
    assert (result.owned, result.generation, result.rack) == ((), None, None)
    in_rack = decode_subscription(subscription(1, ["a"], b"az1"))
    assert (in_rack.user_data, in_rack.owned) == (b"az1", ())
    for odd in (subscription(2, ["a"], None), subscription(3, ["a"], None), subscription(1, ["a"], None, b"\0\0")):
        with pytest.raises(OddBytesError):
            decode_subscription(odd)


def test_cut_anywhere_a_subscription_is_odd_and_nothing_worse():
    whole = subscription(3, ["a", "bc"], b"xyz", OWNED, GENERATION, text("rack"))
    decode_subscription(whole)
    for end in range(len(whole)):
        with pytest.raises(OddBytesError):
            decode_subscription(whole[:end])


def described(*members: tuple[bytes, bytes]) -> tuple[Group, list[str]]:
    """A stable group of classic Kafka Streams, out of user data of subscription and assignment of each member."""
    rows = [
        SimpleNamespace(
            member_id=f"m-{number}", group_instance_id=None, client_id="c", client_host="/h",
            member_metadata=subscription(1, ["orders"], metadata, parts()),
            member_assignment=struct.pack(">h", 1) + OWNED + struct.pack(">i", len(given)) + given,
        )
        for number, (metadata, given) in enumerate(members)
    ]  # fmt: skip
    answer = SimpleNamespace(group_state="Stable", protocol_type="consumer", protocol_data="stream", members=rows)
    coverage = Coverage("c")
    return with_members(Group("app"), answer, coverage, {}), gap_texts(coverage)


def test_threads_of_classic_streams_have_tasks_and_damaged_user_data_is_a_decode_error() -> None:
    """Task 0_0 active twice (two topics), 1_2 standby with one changelog partition; offsets of 1_2 are known."""
    process = bytes(range(16))
    user_data = struct.pack(">ii", 8, 11) + process + struct.pack(">ii", -1, 1)
    user_data += struct.pack(">iiiq", 1, 1, 2, 70) + b"\x05"
    given = struct.pack(">iii", 3, 11, 2) + struct.pack(">iiii", 0, 0, 0, 0)
    given += struct.pack(">iiii", 1, 1, 2, 1) + text("app-changelog") + struct.pack(">i", 2) + b"hosts"
    group, gaps = described((user_data, given), (user_data[:-12], given))
    sound, damaged = group.members
    assert (sound.process_id, sound.decode_error) == ("00010203-0405-0607-0809-0a0b0c0d0e0f", None)
    assert sound.tasks == Tasks((("0", (0,)),), (("1", (2,)),))
    assert sound.task_offsets == (("1", ((2, 70),)),)
    assert (damaged.tasks, damaged.process_id, damaged.assigned) == (None, None, (("a", (0, 2)),))
    assert damaged.decode_error is not None
    assert damaged.decode_error.startswith("user data: ")
    assert len(gaps) == 1
    assert gaps[0].startswith("member app/m-1: lacks_subscription")
