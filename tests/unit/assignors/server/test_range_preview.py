"""The coordinator's ``range`` of 3.8, worked out by hand."""

from __future__ import annotations

import pytest

from kafka_assignors.errors import InvalidInputError
from kafka_assignors.recorded_cases.cases import answer
from kafka_assignors.server.range import PreviewRangeAssignor

T, U = "AAAAAAAAAAAAAAAAAAAAAQ", "AAAAAAAAAAAAAAAAAAAAAg"


def asked(kind: str, counts: dict[str, int], version: str = "3.8.1", **members: tuple[list[str], list[int]]):  # type: ignore[no-untyped-def]
    """The answer of ``replay``: members as (topics, what they hold of T)."""
    case = {
        "version": version, "order": "given", "subscriptionType": kind,
        "topics": [{"id": name, "n": count} for name, count in counts.items()],
        "members": [
            {"id": name, "topics": topics, "assignment": [[T, held]] if held else []}
            for name, (topics, held) in members.items()
        ],
    }  # fmt: skip
    return answer({"id": 1, "strategy": "server_range", "input": case})["output"]


@pytest.mark.parametrize("kind", ["HOMOGENEOUS", "HETEROGENEOUS"])
def test_who_holds_more_than_its_share_keeps_an_extra_and_the_rest_is_dealt(kind: str) -> None:
    """Share 1, one extra: A keeps 0 and 1, B gets 2. Without claims the first in the map has the extra."""
    assert asked(kind, {T: 3}, B=([T], []), A=([T], [2, 1, 0])) == {"assignment": {"A": {T: [0, 1]}, "B": {T: [2]}}}
    assert asked(kind, {T: 3}, B=([T], []), A=([T], [])) == {"assignment": {"A": {T: [2]}, "B": {T: [0, 1]}}}


def test_who_reads_nothing_does_not_stand_in_the_answer() -> None:
    output = asked("HETEROGENEOUS", {T: 2, U: 1}, A=([T], [1]), B=([T, U], []), C=([], []))
    assert output == {"assignment": {"A": {T: [1]}, "B": {T: [0], U: [0]}}}


def test_what_is_held_twice_or_gone_is_kept_unseen() -> None:
    """Both hold 0: each keeps it as its share of one, and 1 is unread. A keeps 5, which does not exist."""
    assert asked("HETEROGENEOUS", {T: 2}, A=([T], [0]), B=([T], [0])) == {"assignment": {"A": {T: [0]}, "B": {T: [0]}}}
    assert asked("HETEROGENEOUS", {T: 2}, A=([T], [5]), B=([T], [])) == {"assignment": {"A": {T: [5]}, "B": {T: [0]}}}


def test_topics_without_metadata_and_groups_without_members_are_errors() -> None:
    assert asked("HETEROGENEOUS", {T: 2}, A=([U], []))["error"].endswith("PartitionAssignorException")
    assert asked("HOMOGENEOUS", {T: 2})["error"] == "java.util.NoSuchElementException"
    assert asked("HETEROGENEOUS", {T: 2}) == {"assignment": {}}


def test_before_3_8_it_is_refused() -> None:
    with pytest.raises(InvalidInputError, match=r"no server_range of release 3\.7\.2 is known"):
        asked("HOMOGENEOUS", {T: 2}, "3.7.2", A=([T], []))
    assert PreviewRangeAssignor().versions == "Kafka 3.8"
