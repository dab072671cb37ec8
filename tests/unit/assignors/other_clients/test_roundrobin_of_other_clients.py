from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kafka_assignors.contract import AssignmentRequest, MapOrder
from kafka_assignors.errors import AssignorError
from kafka_assignors.other_clients.member_orders import (
    as_librdkafka_sorts,
    by_id,
    by_utf16_id,
    join_order,
    last_runs,
    refuse_unknown_topics,
    static_first,
)
from kafka_assignors.other_clients.roundrobin import (
    KafkaJSDealer,
    KafkaPython3Dealer,
    SaramaDealer,
    by_member_id,
    deal_rows,
    of_franz_go,
    of_librdkafka,
)
from kafka_assignors.registry import by_name
from tests.unit.assignors.groups import answer, group


def read(assignor, request: AssignmentRequest) -> dict[str, list[tuple[str, int]]]:
    return answer(request, assignor.assign(request))


def test_sarama_deals_in_the_order_of_texts() -> None:
    """t-0, t-1, t-10, t-2, …, t-9 to a, b in turn: a has 0, 10, 3, 5, 7, 9."""
    request = group({"t": 11}, {"a": ["t"], "b": ["t"]})
    assert sorted(p for _, p in read(SaramaDealer(), request)["a"]) == [0, 3, 5, 7, 9, 10]
    assert sorted(p for _, p in read(by_name("roundrobin"), request)["a"]) == [0, 2, 4, 6, 8, 10]


def test_sarama_mixes_the_partitions_of_topics_whose_names_run_on() -> None:
    """The texts a-0, a-1, a-1-0, a-2 to x, y, x, y. By topics a-0, a-1, a-2, a-1-0: x has a-2."""
    request = group({"a": 3, "a-1": 1}, {"x": ["a", "a-1"], "y": ["a", "a-1"]})
    assert read(SaramaDealer(), request) == {"x": [("a", 0), ("a-1", 0)], "y": [("a", 1), ("a", 2)]}
    assert read(by_name("roundrobin"), request) == {"x": [("a", 0), ("a", 2)], "y": [("a", 1), ("a-1", 0)]}


def test_sarama_refuses_what_it_has_no_metadata_for_and_nothing_at_all() -> None:
    with pytest.raises(AssignorError, match="ErrUnknownTopicOrPartition"):
        SaramaDealer().assign(group({"t": 1}, {"a": ["t", "gone"]}))
    with pytest.raises(AssignorError, match="members and topics are not provided"):
        SaramaDealer().assign(group({}, {"a": []}))
    refuse_unknown_topics(group({"t": 1}, {"a": ["t"]}, {"a": [("gone", 0)]}))  # owned, without subscribers


def test_who_does_not_subscribe_is_passed_over_and_the_turn_goes_on() -> None:
    """t-0 to a, t-1 to b, u-0: c is next and subscribes; u-1: a and b do not, c again; v-0: a."""
    subscriptions = {"a": ["t", "v"], "b": ["t"], "c": ["u"]}
    request = group({"t": 2, "u": 2, "v": 1, "w": 1}, subscriptions)
    expected = {"a": [("t", 0), ("v", 0)], "b": [("t", 1)], "c": [("u", 0), ("u", 1)]}
    for assignor in (SaramaDealer(), by_member_id(), of_franz_go(), of_librdkafka()):
        assert read(assignor, request) == expected
    # The kernel alone: rows backwards, readers 1 and 0 of topic 0, none of topic 1.
    rows, topic_of = np.array([2, 1, 0]), np.array([0, 0, 1])
    starts, readers = np.array([0, 2, 2]), np.array([1, 0], dtype=np.int32)
    assert deal_rows(rows, topic_of, starts, readers, np.array([1, 0])).tolist() == [0, 1, -1]


def test_orders_of_members() -> None:
    """z is static as "1", y as "2", a dynamic. librdkafka: z before y by instance id, a before both by member id."""
    members = group({}, {"y": [], "a": [], "z": []}, static={"z": "1", "y": "2"}, order=MapOrder.GIVEN).members
    ids = list(members.ids)

    def named(order: np.ndarray) -> list[str]:
        return [ids[i] for i in order.tolist()]

    assert named(by_id(members)) == named(by_utf16_id(members)) == ["a", "y", "z"]
    assert named(static_first(members)) == ["z", "y", "a"]
    assert named(as_librdkafka_sorts(members)) == ["a", "z", "y"]
    assert named(last_runs(members)) == ["z", "a"]  # runs (y), (a), (z)
    assert named(last_runs(members, [0, 2])) == ["z", "y"]


def test_kafka_python_3_forgets_members_and_fails_where_the_next_one_does_not_subscribe() -> None:
    members = {"s1": ["t"], "d1": ["t"], "s2": ["t"]}
    request = group({"t": 3}, members, static={"s1": "x", "s2": "y"}, order=MapOrder.GIVEN)
    assert read(KafkaPython3Dealer(), request) == {"s1": [], "d1": [("t", 1)], "s2": [("t", 0), ("t", 2)]}
    # t-0 to a, u-0: b subscribes; u-1: a does not, so it goes on to b, which it looks up by a pair.
    unequal = group({"t": 1, "u": 2}, {"a": ["t"], "b": ["u"]})
    with pytest.raises(AssignorError, match=r"KeyError: \(None, 'b'\)") as refusal:
        KafkaPython3Dealer().assign(unequal)
    assert refusal.value.java_class == "KeyError"
    named = group({"t": 1, "u": 2}, {"a": ["t"], "b": ["u"]}, static={"a": "1", "b": "2"})
    with pytest.raises(AssignorError, match=r"KeyError: \('2', 'b'\)"):
        KafkaPython3Dealer().assign(named)
    fitting = group({"t": 1, "u": 1}, {"a": ["t"], "b": ["u"]})
    assert read(KafkaPython3Dealer(), fitting) == {"a": [("t", 0)], "b": [("u", 0)]}


def test_who_is_left_out_depends_on_the_order_of_the_coordinators_list() -> None:
    """a, p dynamic, b static. A HashMap lists p, a, b: all stay. Scala's may list a, b, p: p alone stays of a and p."""
    request = group({"t": 3}, {"a": ["t"], "b": ["t"], "p": ["t"]}, static={"b": "x"})
    older = replace(request, member_order=np.array([0, 1, 2]))
    for name in ("range@kafka-python-3", "roundrobin@kafka-python-3"):
        assignor = by_name(name)
        assert read(assignor, request) == {"a": [("t", 1)], "b": [("t", 0)], "p": [("t", 2)]}
        assert read(assignor, older)["a"] == []
    assert join_order(request).tolist() == [2, 0, 1]
    assert join_order(older).tolist() == join_order(replace(request, order=MapOrder.GIVEN)).tolist() == [0, 1, 2]


def test_librdkafka_sorts_members_as_the_coordinator_lists_them() -> None:
    """c, a static "1", "2", b dynamic: a cycle. Listed a, b, c: merged a, b, c; listed c, a, b: merged c, a, b."""
    request = group({"t": 3}, {"a": ["t"], "b": ["t"], "c": ["t"]}, static={"c": "1", "a": "2"})
    older = replace(request, member_order=np.array([2, 0, 1]))
    for name in ("range@librdkafka", "roundrobin@librdkafka"):
        assignor = by_name(name)
        assert read(assignor, request) == {"a": [("t", 0)], "b": [("t", 1)], "c": [("t", 2)]}
        assert read(assignor, older) == {"c": [("t", 0)], "a": [("t", 1)], "b": [("t", 2)]}


def test_kafkajs_deals_the_leaders_topics_to_all_subscribed_or_not() -> None:
    """Topics in the order given: u-0, t-0, t-1 to a, b, a, though b reads u alone."""
    request = group({"u": 1, "t": 2}, {"b": ["u"], "a": ["u", "t"]}, order=MapOrder.GIVEN)
    assert read(KafkaJSDealer(), request) == {"b": [("t", 0)], "a": [("t", 1), ("u", 0)]}
    nobody = group({"t": 1}, {})
    assert read(KafkaJSDealer(), nobody) == {}
