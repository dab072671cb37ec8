from __future__ import annotations

from typing import Any

import pytest

from rebalance_advisor.publish.charts import cost_axis, frontier_chart, frontier_label

GIB = 2**30


def point(cost: int | None, skew: float, **more: Any) -> dict[str, Any]:
    return {
        "bytes": cost, "replica_moves": 3, "leader_changes": 1, "lower_bound_bytes": None if cost is None else cost / 2,
        "skew": {"disk": skew, "in": 1.0}, "name": None, "is_recommended": False,
    } | more  # fmt: skip


POINTS = [point(0, 2.0), point(4 * GIB, 1.5, name="knee"), point(8 * GIB, 1.1, name="even", is_recommended=True)]


def drawn(points: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[str]]:
    """The rows of each layer's data, and the kinds of marks."""
    chart = frontier_chart(points, ["disk", "in"])
    assert chart is not None
    layers = chart["layer"]
    return [(layer.get("data") or chart.get("data"))["values"] for layer in layers], [
        layer["mark"]["type"] for layer in layers
    ]


def test_costs_are_in_the_unit_of_the_largest_and_the_bound_stands_to_the_left() -> None:
    rows, marks = drawn(POINTS)
    assert marks == ["line", "line", "circle", "text", "text"]
    assert [(row["cost"], row["bound"], row["skew"]) for row in rows[0]] == [(0, 0, 2.0), (4, 2, 1.5), (8, 4, 1.1)]
    assert [row["label"] for row in rows[1]] == ["", "knee", "even: this plan"]
    assert [row["size"] for row in rows[1]] == [45, 45, 150]
    assert all(row["bound"] <= row["cost"] for row in rows[0])


def test_unknown_bytes_are_not_drawn_as_zero() -> None:
    unknown = [point(None, 2.0, replica_moves=0), point(None, 1.2, replica_moves=9)]
    rows, marks = drawn(unknown)
    assert cost_axis(unknown) == "replica_moves"
    assert marks == ["line", "circle", "text", "text"]
    assert [row["cost"] for row in rows[0]] == [0, 9]


@pytest.mark.parametrize(
    ("points", "message"),
    [
        (POINTS, "3 plans from 0 B copied at 2.00 times the mean to 8.0 GiB at 1.10 times"),
        ([point(0, 1.5, replica_moves=0, leader_changes=0), point(0, 1.2, replica_moves=0, leader_changes=7)],
         "2 plans from 0 leaders changed at 1.50 times the mean to 7 at 1.20 times"),
    ],
)  # fmt: skip
def test_who_cannot_see_it_is_told_where_it_begins_and_ends(points: list[dict[str, Any]], message: str) -> None:
    assert frontier_label(points, ["disk", "in"]) == message


def test_what_is_not_compared_does_not_raise_the_line_and_an_unknown_skew_is_not_drawn() -> None:
    watched = [dict(item, skew=item["skew"] | {"out": 9.0}) for item in POINTS]
    assert drawn(watched)[0][0] == drawn(POINTS)[0][0]
    assert drawn([*POINTS, dict(point(9 * GIB, 1.0), skew={"out": 9.0})])[0][0] == drawn(POINTS)[0][0]


def test_there_is_no_chart_without_points() -> None:
    assert frontier_chart([], ["disk"]) is None
