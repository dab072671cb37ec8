from typing import Any

import pytest

from kafka_assignors.errors import InvalidInputError
from kafka_assignors.recorded_cases.cases import answer
from kafka_assignors.recorded_cases.streams import streams_request
from kafka_assignors.streams import Task

CASE: dict[str, Any] = {
    "version": "4.4",
    "subtopologies": [{"id": "0", "n": 2, "stateful": True}],
    "members": [
        {"id": "a", "processId": "p", "active": [["0", [1, 1]]], "taskOffsets": [["0", [[0, 7]]]]},
        {"id": "b", "processId": "q", "instanceId": "i", "rack": "r", "standby": [["0", [1]]]},
    ],
}


def test_tasks_and_offsets_of_a_case() -> None:
    request = streams_request(CASE)
    assert request.standby_replicas == 0
    assert [member.active for member in request.members] == [(Task("0", 1),), ()]
    assert [member.standby for member in request.members] == [(), (Task("0", 1),)]
    assert request.members[0].offset_sums == {Task("0", 0): 7}


def test_the_release_decides_and_the_newest_is_asked_by_default() -> None:
    """Members are empty but for offsets: in 4.4 b has restored 0_0, to 4.3 the queue gives it to a."""
    members = [{"id": "a", "processId": "p"}, {"id": "b", "processId": "q", "taskOffsets": [["0", [[0, 7]]]]}]
    given = {version: answered({**CASE, "members": members, "version": version}) for version in ("4.3", "4.4", None)}
    assert [given[version]["b"]["active"] for version in given] == [{"0": [1]}, {"0": [0]}, {"0": [0]}]


def answered(case: dict[str, Any]) -> Any:
    return answer({"strategy": "streams_sticky", "input": case})["output"]["assignment"]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"version": "4.1"}, "4.1 is known"),
        ({"members": [{"id": "a", "processId": "p", "active": [[0, [1]]]}]}, "subtopology is 0"),
        ({"members": [{"id": "a"}]}, "'processId' is missing"),
        ({"members": [{"id": "a", "processId": 5}]}, "of the wrong kind"),
        ({"members": [{"id": "a", "processId": "p", "active": [["0", 1]]}]}, "of the wrong kind"),
        ({"numStandbyReplicas": -1}, "standby_replicas: -1"),
        ({"order": "leader"}, "leader assigns nothing"),
    ],
)
def test_a_case_that_cannot_be_read_is_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        answered({**CASE, **wrong})
