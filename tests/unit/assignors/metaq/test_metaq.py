"""MetaQ's strategies: seed article 004, string order, the ring."""

import numpy as np
import pytest

from kafka_assignors.errors import AssignorError
from kafka_assignors.metaq import (
    HASHES,
    MetaqConsistentAssignor,
    MetaqDefaultAssignor,
    Ring,
    consistent_shares,
    default_share,
)
from tests.unit.assignors.groups import answer, group


def test_seed_004_consumers_beyond_the_partitions_get_nothing() -> None:
    shares = {consumer: default_share(consumer, "abc", ["0-0", "0-1"]) for consumer in "abc"}
    assert shares == {"a": ["0-0"], "b": ["0-1"], "c": []}


def test_a_stranger_gets_nothing_and_nobody_is_an_error() -> None:
    assert default_share("x", ["a"], ["0-0"]) == []
    with pytest.raises(AssignorError, match=r"java\.lang\.ArithmeticException"):
        default_share("a", [], ["0-0"])


def test_default_ranges_run_over_partition_names_as_strings() -> None:
    request = group({"t": 12}, {"b": ["t"], "a": ["t"]})
    shares = answer(request, MetaqDefaultAssignor().assign(request))
    assert [partition for _, partition in sorted(shares["a"])] == [0, 1, 2, 3, 10, 11]
    assert [partition for _, partition in sorted(shares["b"])] == [4, 5, 6, 7, 8, 9]


def test_a_consumer_that_leaves_moves_only_its_own_partitions() -> None:
    partitions = [f"0-{p}" for p in range(300)]
    before = consistent_shares(["a", "b", "c"], partitions)
    after = consistent_shares(["a", "c"], partitions)
    assert set(before["a"]) <= set(after["a"])
    assert set(before["c"]) <= set(after["c"])
    assert sorted(after["a"] + after["c"]) == sorted(partitions)


def test_the_topic_plays_no_part_on_the_ring() -> None:
    request = group({"t": 40, "u": 40}, {"a": ["t", "u"], "b": ["u", "t"], "c": ["t", "u"]})
    shares = answer(request, MetaqConsistentAssignor().assign(request))
    for partitions in shares.values():
        assert {p for topic, p in partitions if topic == "t"} == {p for topic, p in partitions if topic == "u"}


def test_the_strategy_for_groups_agrees_with_the_ring_of_names() -> None:
    request = group({"t": 30}, {"c2": ["t"], "c1": ["t"], "idle": []})
    shares = answer(request, MetaqConsistentAssignor().assign(request))
    expected = consistent_shares(["c1", "c2"], [f"0-{p}" for p in range(30)])
    assert {member: sorted(p for _, p in pairs) for member, pairs in shares.items()} == {
        **{member: sorted(int(name[2:]) for name in names) for member, names in expected.items()},
        "idle": [],
    }


def test_a_consumer_has_160_points() -> None:
    ring = Ring.of(["a", "b"])
    assert np.bincount(ring.consumers).tolist() == [160, 160]
    assert (np.diff(ring.points.astype(np.int64)) > 0).all()


def test_of_equal_points_the_later_consumer_has_them() -> None:
    assert set(Ring.of(["a", "a"]).consumers.tolist()) == {1}


@pytest.mark.parametrize("name", ["CRC32_HASH", "KETAMA_HASH", "ELECTION_HASH"])
def test_hashes_over_bytes_fail_on_the_empty_key(name: str) -> None:
    with pytest.raises(AssignorError, match=r"java\.lang\.NullPointerException"):
        HASHES[name]("")
