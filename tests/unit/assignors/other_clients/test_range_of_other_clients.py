from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from kafka_assignors.client.range import RangeAssignor
from kafka_assignors.contract import AssignmentRequest, MapOrder
from kafka_assignors.errors import AssignorError
from kafka_assignors.other_clients.range import (
    LibrdkafkaRange,
    by_member_id,
    of_franz_go,
    of_kafka_python_3,
    of_sarama,
    ranges_of,
)
from kafka_assignors.registry import by_name
from tests.unit.assignors.groups import answer, group

# By id a, b, z; static first z, then a and b. librdkafka compares z with a and b by id (they have no instance id): a,
# b, z.
MIXED = group({"t": 4}, {"b": ["t"], "a": ["t"], "z": ["t"]}, static={"z": "pod"}, order=MapOrder.GIVEN)


def read(assignor, request: AssignmentRequest) -> dict[str, list[int]]:
    """Partitions of t."""
    result = answer(request, assignor.assign(request))
    return {member: [p for topic, p in pairs if topic == "t"] for member, pairs in result.items()}


@pytest.mark.parametrize(
    ("assignor", "first"), [(of_sarama(), "a"), (by_member_id(), "a"), (LibrdkafkaRange(), "a"), (of_franz_go(), "z")]
)
def test_who_is_first_gets_the_larger_share(assignor, first: str) -> None:
    reading = read(assignor, MIXED)
    assert reading[first] == [0, 1]
    assert sorted(map(len, reading.values())) == [1, 1, 2]


def test_ranges_by_topic() -> None:
    """7 partitions for 3: 3, 2, 2; 2 for readers 2 and 0: one each; a topic without readers or partitions: none."""
    starts, readers = np.array([0, 3, 5, 5, 6]), np.array([0, 1, 2, 2, 0, 1], dtype=np.int32)
    owner = ranges_of(starts, readers, np.array([0, 7, 9, 12, 12]))
    assert owner.tolist() == [0, 0, 0, 1, 1, 2, 2, 2, 0, -1, -1, -1]


def test_librdkafka_compares_instance_ids_of_static_members() -> None:
    """Instance ids turn the order of member ids round where all have one."""
    request = group({"t": 3}, {"a": ["t"], "b": ["t"]}, static={"a": "2", "b": "1"})
    assert read(LibrdkafkaRange(), request) == {"a": [2], "b": [0, 1]}
    assert read(of_sarama(), request) == {"a": [0, 1], "b": [2]}


def test_librdkafka_sorts_each_topic_by_itself_where_its_order_is_none() -> None:
    """A cycle: a before d before z by member id, z before a by instance id. t: a, d, z; u without d: z, a."""
    subscriptions = {"a": ["t", "u"], "d": ["t"], "z": ["t", "u"]}
    request = group({"t": 4, "u": 3}, subscriptions, static={"a": "2", "z": "1"}, order=MapOrder.GIVEN)
    result = answer(request, LibrdkafkaRange().assign(request))
    assert result == {
        "a": [("t", 0), ("t", 1), ("u", 2)],
        "d": [("t", 2)],
        "z": [("t", 3), ("u", 0), ("u", 1)],
    }


def test_kafka_python_3_forgets_all_but_the_last_run_of_a_kind() -> None:
    """JoinGroup order s1 d1 s2 d2 d3: runs (s1), (d1), (s2), (d2, d3): s1 and d1 get nothing."""
    members = {name: ["t"] for name in ("s1", "d1", "s2", "d2", "d3")}
    request = group({"t": 6}, members, static={"s1": "x", "s2": "y"}, order=MapOrder.GIVEN)
    assert read(of_kafka_python_3(), request) == {"s1": [], "d1": [], "s2": [0, 1], "d2": [2, 3], "d3": [4, 5]}
    # For topic t, without d1 and d2, the static members are one run.
    fewer = {**members, "d1": ["u"], "d2": ["u"]}
    request = group({"t": 6, "u": 1}, fewer, static={"s1": "x", "s2": "y"}, order=MapOrder.GIVEN)
    assert read(of_kafka_python_3(), request) == {"s1": [0, 1], "d1": [], "s2": [2, 3], "d2": [], "d3": [4, 5]}


def test_kafka_python_3_forgets_nobody_where_all_are_of_one_kind() -> None:
    request = group({"t": 3}, {"b": ["t"], "a": ["t"]}, static={"a": "2", "b": "1"}, order=MapOrder.GIVEN)
    assert read(of_kafka_python_3(), request) == {"b": [0, 1], "a": [2]}


def test_sarama_gives_up_for_a_topic_without_metadata_and_others_skip_it() -> None:
    request = group({"t": 2}, {"a": ["t", "gone"]})
    with pytest.raises(AssignorError, match="ErrUnknownTopicOrPartition: gone"):
        of_sarama().assign(request)
    assert read(by_member_id(), request) == {"a": [0, 1]}


def test_strings_compare_by_code_points_where_java_compares_utf_16() -> None:
    """U+1F600 is above U+FF01, its first surrogate D83D below."""
    request = group({"t": 1}, {"\U0001f600": ["t"], "\uff01": ["t"]})
    assert read(of_sarama(), request)["\uff01"] == [0]
    assert read(by_name("range@2.0"), request)["\U0001f600"] == [0]


def with_racks(request: AssignmentRequest, members: Sequence[int], partitions: Sequence[int]) -> AssignmentRequest:
    """Racks as numbers below 2, −1 for none; one replica a partition."""
    topics = replace(
        request.topics, rack_offsets=np.arange(len(partitions) + 1), racks=np.array(partitions, dtype=np.int32)
    )
    columns = replace(request.members, racks=np.array(members, dtype=np.int32))
    return replace(request, topics=topics, members=columns, rack_names=("x", "y"))


def test_a_librdkafka_member_without_a_rack_gets_what_is_left_of_a_group_of_topics() -> None:
    """t and u with partition 0 on x, 1 on y; a has no rack, b is in x."""
    both = {"a": ["t", "u"], "b": ["t", "u"]}
    request = with_racks(group({"t": 2, "u": 2}, both, order=MapOrder.GIVEN), [-1, 0], [0, 1, 0, 1])
    assert read(LibrdkafkaRange(), request) == {"a": [1], "b": [0]}
    assert read(RangeAssignor(), request) == {"a": [0], "b": [1]}  # Java: a comes first and matches any rack


def test_a_topic_alone_in_its_group_matches_a_librdkafka_member_without_a_rack_as_in_java() -> None:
    request = with_racks(group({"t": 2}, {"a": ["t"], "b": ["t"]}, order=MapOrder.GIVEN), [-1, 0], [0, 1])
    assert read(LibrdkafkaRange(), request) == read(RangeAssignor(), request) == {"a": [0], "b": [1]}


def test_librdkafka_matches_groups_of_topics_also_where_no_topic_needs_it() -> None:
    """Every partition on both racks: nothing to gain, so Java deals plain ranges; b, in a rack, is matched first."""
    both = {"a": ["t", "u"], "b": ["t", "u"]}
    plain = group({"t": 2, "u": 2}, both, order=MapOrder.GIVEN)
    topics = replace(plain.topics, rack_offsets=np.arange(5) * 2, racks=np.array([0, 1] * 4, dtype=np.int32))
    members = replace(plain.members, racks=np.array([-1, 0], dtype=np.int32))
    request = replace(plain, topics=topics, members=members, rack_names=("x", "y"))
    assert read(RangeAssignor(), request) == {"a": [0], "b": [1]}
    assert read(LibrdkafkaRange(), request) == {"a": [1], "b": [0]}
