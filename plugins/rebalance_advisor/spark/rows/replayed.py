"""Replays on their way from an executor to the store: rows as plain values, in the order of the table's columns.

With every scenario a group has some 150 rows, and a topic 21: as objects with names they would be ten times as large
and as slow.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from operator import attrgetter
from typing import Any

from kafka_rebalance.facts import Fact
from kafka_rebalance.groups.group_replay import GroupReplay
from kafka_rebalance.placement.topic_replay import TopicReplay
from kafka_rebalance.scoring.assignment_scores import GroupScore, MemberScore
from kafka_rebalance.scoring.placement_scores import TopicPlacementScore

Document = dict[str, Any]
_SCORE = tuple(one.name for one in fields(GroupScore))
SCORE_COLUMNS = (*_SCORE, "basis", "is_reproduced")
TOPIC_COLUMNS = tuple(one.name for one in fields(TopicPlacementScore))
MEMBER_COLUMNS = tuple(one.name for one in fields(MemberScore))
_fields_of_score: Callable[[GroupScore], tuple[Any, ...]] = attrgetter(*_SCORE)
_values_of_member: Callable[[MemberScore], tuple[Any, ...]] = attrgetter(*MEMBER_COLUMNS)
_values_of_topic: Callable[[TopicPlacementScore], tuple[Any, ...]] = attrgetter(*TOPIC_COLUMNS)


def sent_topic(replay: TopicReplay) -> Document:
    """``topic`` and ``scores`` as lists of values."""
    return {"topic": replay.topic, "scores": [_values_of_topic(score) for score in replay.scores]}


def sent(replay: GroupReplay, *, with_today: bool = True) -> Document:
    """``group_id``, ``part`` (0 where today's rows are in it), ``scores`` and ``members`` as lists of values."""
    rests_on = (replay.basis.value, replay.is_reproduced)
    scores = (*(replay.scores if with_today else ()), *replay.scenarios)
    return {
        "group_id": replay.group_id,
        "part": 0 if with_today else 1,
        "scores": [(*_values_of_score(score), *rests_on) for score in scores],
        "members": [_values_of_member(member) for member in replay.members] if with_today else [],
    }


def _values_of_score(score: GroupScore) -> tuple[Any, ...]:
    return tuple(value.document() if isinstance(value, Fact) else value for value in _fields_of_score(score))


def refusals(documents: Sequence[Document]) -> list[tuple[str, Fact | None]]:
    """Strategy and error of each row of today but the group's own."""
    name, error = SCORE_COLUMNS.index("assignor"), SCORE_COLUMNS.index("error")
    rows = (row for one in documents if one["part"] == 0 for row in one["scores"][1:])
    return [(row[name], None if row[error] is None else Fact.from_document(row[error])) for row in rows]


def rows_of(documents: Sequence[Document], order: dict[str, int]) -> tuple[list[Any], list[Any]]:
    """Rows of scores and of members of all groups in ``order``; a group that came in parts has today's first."""
    there = sorted(documents, key=lambda one: (order[one["group_id"]], one["part"]))
    return [row for one in there for row in one["scores"]], [row for one in there for row in one["members"]]
