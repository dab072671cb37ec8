from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest

from kafka_assignors.custom import assignment_of, topic_views
from kafka_assignors.custom_views import (
    MemberView,
    TopicView,
    members_document,
    members_of_document,
    plain_answer,
    plain_partition,
)
from kafka_assignors.errors import AssignorError
from kafka_assignors.whole_number import whole_number
from tests.unit.assignors.groups import answer, group

WEIGHTS = {
    b'{"weight": 3}': 3.0,
    b'{"weight": 0.5, "zone": "a"}': 0.5,
    b'{"weight": 0}': 1.0,  # one divides by it
    b'{"weight": -2}': 1.0,
    b'{"weight": true}': 1.0,
    b'{"weight": "3"}': 1.0,
    b'{"weight": NaN}': 1.0,
    b'{"weight": 1e999}': 1.0,
    b'{"weight": 1' + b"0" * 400 + b"}": 1.0,
    b"[3]": 1.0,
    b"\x00\x00\x00\x01\xff": 1.0,  # user data of Kafka's sticky assignor
    b"[" * 100_000: 1.0,
}


@pytest.mark.parametrize("data", WEIGHTS, ids=lambda data: data[:20].decode("latin-1"))
def test_weight_is_a_number_above_0_of_user_data_that_are_an_object(data: bytes) -> None:
    assert MemberView("m", (), user_data=data).weight == WEIGHTS[data]


def test_views_cross_to_another_process_whole() -> None:
    rng = random.Random(3)
    for _ in range(50):
        member = MemberView(
            "m\ud800é", ("t", "u\n"), rng.choice([None, "i"]), rng.choice([None, ""]), rng.choice([None, "h"]),
            rng.choice([None, "c"]), tuple(("t", p) for p in range(rng.randint(0, 3))),
            rng.choice([None, b"", rng.randbytes(9)]),
        )  # fmt: skip
        topic = TopicView("t", 2, rng.choice([(), (frozenset("ab"), frozenset())]), rng.choice([(), (0.1, 1e300)]))
        both = (member, replace(member, id="n", topics=rng.choice([member.topics, ("t",)])))
        assert members_of_document(json.loads(json.dumps(members_document(both)))) == both
        assert TopicView.of_document(json.loads(json.dumps(topic.document()))) == topic


def test_topics_that_nobody_subscribes_to_are_not_shown() -> None:
    request = group({"t": 2, "u": 1}, {"a": ["t"]}, {"a": [("u", 0)]})
    assert topic_views(request) == (TopicView("t", 2),)


def test_whole_numbers_are_of_any_type_that_is_one() -> None:
    assert plain_answer({"a": [("t", np.int32(3)), ["u", 4]]}) == {"a": [("t", 3), ("u", 4)]}
    assert [whole_number(value) for value in (7, np.uint8(7), True, 7.0, np.float64(7), "7", None)] == [
        7, 7, None, None, None, None, None,
    ]  # fmt: skip
    assert plain_partition(np.int64(2)) == 2
    with pytest.raises(AssignorError, match="UnknownPartition: answers True, which is no whole number"):
        plain_partition(True)


NO_ANSWERS = {
    "NoAnswer: answers None": None,
    r"NoAnswer: answers \['a'\]": ["a"],
    "UnknownMember: names 1, which is no member's id": {1: []},
    "NoAnswer: gives 'a' 't', which is no list of pairs": {"a": "t"},
    "NoAnswer: gives 'a' 5, which is no list of pairs": {"a": 5},
    "NoAnswer: gives 'a' None, which": {"a": None},
    r"NoAnswer: gives 'a' \{'t': 0\}, which is no list of pairs": {"a": {"t": 0}},
    "NoAnswer: gives 'a' 't0', which is no pair": {"a": ["t0"]},
    r"NoAnswer: gives 'a' \('t', 0, 1\), which is no pair": {"a": [("t", 0, 1)]},
    r"NoAnswer: gives 'a' \(0, 't'\), which is no pair": {"a": [(0, "t")]},
    r"UnknownPartition: gives 'a' \('t', True\)": {"a": [("t", True)]},
    r"UnknownPartition: gives 'a' \('t', None\)": {"a": [("t", None)]},
}


@pytest.mark.parametrize("message", NO_ANSWERS)
def test_what_is_no_answer_is_told_by_the_first_thing_that_is_wrong(message: str) -> None:
    with pytest.raises(AssignorError, match=message):
        plain_answer(NO_ANSWERS[message])


Lists = Mapping[str, Sequence[tuple[str, int]]]


def test_a_random_answer_counts_and_counts_no_more_once_it_is_damaged() -> None:
    rng = random.Random(11)
    for _ in range(60):
        counts = {f"t{i}": rng.randint(1, 5) for i in range(3)}
        members = {f"m{i}": [t for t in counts if rng.random() < 0.7] for i in range(4)} | {"all": list(counts)}
        request = group(counts, members)
        lists: dict[str, list[tuple[str, int]]] = {}
        for topic in topic_views(request):
            readers = [member for member, topics in members.items() if topic.name in topics]
            for p in range(topic.partitions):
                lists.setdefault(rng.choice(readers), []).append((topic.name, p))
        result = answer(request, assignment_of(lists, request))
        assert {member: given for member, given in result.items() if given} == lists
        member = rng.choice(list(lists))
        pair = lists[member].pop(rng.randrange(len(lists[member])))
        with pytest.raises(AssignorError, match=f"Unread: leaves 1 of {sum(counts.values())} .*: {pair[0]}-{pair[1]}"):
            assignment_of(lists, request)
        damages: dict[str, tuple[str, tuple[str, int]]] = {
            "GivenTwice": ("all", rng.choice([p for given in lists.values() for p in given] or [pair])),
            "UnknownPartition": (member, (pair[0], counts[pair[0]] + rng.randint(0, 3))),
            "UnknownMember": ("stranger", pair),
        }
        lists[member].append(pair)
        for kind, (reader, wrong) in damages.items():
            with pytest.raises(AssignorError, match=f"^{kind}: "):
                assignment_of(lists | {reader: [*lists.get(reader, []), wrong]}, request)


def test_a_member_gets_only_what_it_subscribes_to() -> None:
    request = replace(group({"t": 1, "u": 1}, {"a": ["t", "u"], "b": ["t"]}))
    assert assignment_of({"a": [("u", 0)], "b": [("t", 0)]}, request).counts.tolist() == [1, 1]
    with pytest.raises(AssignorError, match="NotSubscribed: gives 'u'-0 to 'b', who does not subscribe to it"):
        assignment_of({"a": [("t", 0)], "b": [("u", 0)]}, request)
