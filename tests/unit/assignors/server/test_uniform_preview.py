"""``uniform`` of 3.8 and 3.9, worked out by hand; Kafka's own answers are in ``tests/conformance``."""

from __future__ import annotations

import pytest

from kafka_assignors.errors import InvalidInputError
from kafka_assignors.recorded_cases.cases import answer
from kafka_assignors.server import uniform_preview
from kafka_assignors.server.uniform_preview import PreviewUniformAssignor

T, U = "AAAAAAAAAAAAAAAAAAAAAQ", "AAAAAAAAAAAAAAAAAAAAAg"
EXCEPTION = "org.apache.kafka.coordinator.group.api.assignor.PartitionAssignorException"


def asked(counts: dict[str, int], version: str = "3.9.2", **members: tuple[list[str], dict[str, list[int]]]):  # type: ignore[no-untyped-def]
    """The answer of ``replay``: members as (topics, what they hold)."""
    case = {
        "version": version, "order": "given", "subscriptionType": "HETEROGENEOUS",
        "topics": [{"id": name, "n": count} for name, count in counts.items()],
        "members": [
            {"id": name, "topics": topics, "assignment": [[topic, held[topic]] for topic in held]}
            for name, (topics, held) in members.items()
        ],
    }  # fmt: skip
    return answer({"id": 1, "strategy": "server_uniform", "input": case})["output"]


def test_free_partitions_are_dealt_then_counts_are_evened_out() -> None:
    """B is dealt both of u; A has 4 against 2, so t-0 moves to B, and 3 against 3 is even."""
    output = asked({T: 4, U: 2}, A=([T], {T: [0, 1, 2, 3]}), B=([T, U], {}))
    assert output == {"assignment": {"A": {T: [1, 2, 3]}, "B": {T: [0], U: [0, 1]}}}


def test_what_exists_no_longer_stays_and_counts() -> None:
    """A holds the vanished t-7 and t-0 … t-3: 5 against 0, so t-0 moves. A's 4 are its maximum: only B is compared."""
    output = asked({T: 4}, A=([T], {T: [0, 1, 2, 3, 7]}), B=([T], {}))
    assert output == {"assignment": {"A": {T: [1, 2, 3, 7]}, "B": {T: [0]}}}


def test_a_member_at_its_maximum_is_dealt_nothing_more() -> None:
    """A holds three vanished partitions: its maximum is 2, t-0 and t-1 stay unassigned, and Kafka fails."""
    assert asked({T: 2}, A=([T], {T: [5, 6, 7]}))["error"] == EXCEPTION


def test_all_alike_is_as_in_4_0_0() -> None:
    """A holds all three of t and releases one, with ``is_homogeneous`` set."""
    case = {
        "order": "given", "subscriptionType": "HOMOGENEOUS", "topics": [{"id": T, "n": 3}],
        "members": [{"id": "A", "topics": [T], "assignment": [[T, [0, 1, 2]]]}, {"id": "B", "topics": [T]}],
    }  # fmt: skip
    preview, first = (
        answer({"id": 1, "strategy": "server_uniform", "input": case | {"version": version}})["output"]
        for version in ("3.8.1", "4.0.0")
    )
    assert preview == first == {"assignment": {"A": {T: [0, 1]}, "B": {T: [2]}}}


def test_nobody_and_nothing() -> None:
    assert asked({T: 2}) == {"assignment": {}}
    assert asked({T: 2}, A=([], {})) == {"assignment": {}}


def test_before_3_8_it_is_refused() -> None:
    with pytest.raises(InvalidInputError, match=r"no server_uniform of release 3\.7\.2 is known"):
        asked({T: 2}, "3.7.2", A=([T], {}))
    assert PreviewUniformAssignor().versions == "Kafka 3.8 – 3.9"
    assert uniform_preview.DONE == 0
