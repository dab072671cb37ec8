"""The comparison itself: it passes what is the same answer in another order, and fails on what is not."""

from typing import Any

import pytest

from tests.conformance.recorded import is_recorded_answer

# a owned t-0 and t-1, b nothing; c joins.
ASKED = {
    "client": "sarama",
    "members": [
        {"id": "a", "topics": ["t", "u"], "memberData": {"owned": [["t", [0, 1]]], "generation": 4}},
        {"id": "b", "topics": ["t", "u"]},
        {"id": "c", "topics": ["u"]},
    ],
}
ONE = {"a": [["t", [0]], ["u", [1]]], "b": [["t", [1]]], "c": [["u", [0]]]}
OTHER = {"a": [["t", [1]], ["u", [0]]], "b": [["t", [0]]], "c": [["u", [1]]]}  # as large, one kept as well
VARYING = {"varies": True, "seen": [ONE, OTHER]}


def is_same(assignment: object, recorded: dict[str, Any], **more: object) -> bool:
    return is_recorded_answer({"assignment": assignment, **more}, recorded, "client_sticky", ASKED)


def test_lists_of_other_clients_are_sets_and_nothing_else_is_free() -> None:
    recorded = {"assignment": ONE}
    assert is_same({"c": [["u", [0]]], "b": [["t", [1]]], "a": [["u", [1]], ["t", [0]]]}, recorded)
    assert is_same(ONE, recorded, varies=True)  # it could vary: the recorded runs did not
    assert not is_same(OTHER, recorded)
    assert not is_same(OTHER, recorded, varies=True)
    assert not is_same({**ONE, "c": [["u", [0]], ["u", [0]]]}, recorded)  # twice is not once
    assert not is_same({**ONE, "d": [["u", [2]]]}, recorded)
    assert not is_same(ONE, recorded, target=ONE)
    assert not is_same(ONE, {"assignment": ONE, "target": ONE})
    assert is_same(ONE, {"assignment": ONE, "target": OTHER}, target=dict(reversed(OTHER.items())))
    assert not is_same(ONE, {"assignment": ONE, "target": OTHER}, target=ONE)


def test_java_stays_in_order() -> None:
    turned = {**ONE, "a": [["u", [1]], ["t", [0]]]}
    for asked in ({**ASKED, "client": "java"}, {"members": ASKED["members"]}, None):
        assert not is_recorded_answer({"assignment": turned}, {"assignment": ONE}, "client_sticky", asked)


def test_a_refusal_is_known_by_its_name() -> None:
    recorded = {"error": "KeyError", "message": "'m-1'"}
    assert is_recorded_answer({"error": "KeyError"}, recorded, "client_roundrobin", ASKED)
    assert not is_recorded_answer({"error": "TypeError"}, recorded, "client_roundrobin", ASKED)
    assert not is_same(ONE, recorded)
    assert not is_recorded_answer({"error": "KeyError"}, VARYING, "client_sticky", ASKED)


# Neither answer was seen. Both seen ones have sizes 1, 1, 2, keep one partition of a's, and give out all four.
@pytest.mark.parametrize(
    ("assignment", "is_right"),
    [
        ({"a": [["t", [0]], ["u", [0]]], "b": [["t", [1]]], "c": [["u", [1]]]}, True),
        ({"a": [["t", [0]]], "b": [["t", [1]], ["u", [0]]], "c": [["u", [1]]]}, True),
        ({"a": [["t", [0, 1]]], "b": [["u", [0]]], "c": [["u", [1]]]}, False),  # keeps two
        ({"a": [["t", [0]], ["u", [0, 1]]], "b": [["t", [1]]], "c": []}, False),  # sizes 3, 1
        ({"a": [["t", [0]], ["u", [0]]], "b": [["t", [2]]], "c": [["u", [1]]]}, False),  # t-2 for t-1
        ({"a": [["u", [0, 1]]], "b": [["t", [0]]], "c": [["t", [1]]]}, False),  # c does not read t, and none is kept
        ({"b": [["t", [0]], ["u", [1]]], "a": [["t", [1]]], "c": [["u", [0]]], "x": []}, True),
    ],
)
def test_of_a_varying_answer_what_is_stable_is_compared(assignment: object, is_right: bool) -> None:
    assert is_same(assignment, VARYING, varies=True) is is_right
    assert not is_same(assignment, VARYING)  # who says that it never varies has to say one that was seen
    assert is_same(OTHER, VARYING)


def test_a_fact_that_the_recorded_runs_do_not_agree_on_is_free() -> None:
    uneven = {"a": [["t", [0, 1]]], "b": [["u", [0]]], "c": [["u", [1]]]}  # keeps two
    assert is_same(uneven, {"varies": True, "seen": [ONE, uneven]}, varies=True)
    only_read = {"a": [["t", [0]], ["u", [0]]], "b": [["u", [1]]], "c": [["t", [1]]]}  # c does not subscribe to t
    assert not is_same(only_read, {"varies": True, "seen": [ONE, uneven]}, varies=True)
