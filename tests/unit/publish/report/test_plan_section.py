from __future__ import annotations

from typing import Any

from rebalance_advisor.publish.report import MOST_MOVES, bound_rows, key_figures, largest_moves


def move(number: int, size: int | None, **more: Any) -> dict[str, Any]:
    return {
        "topic": "t", "partition": number, "from": [1, 2], "to": [2, 3], "leader_from": 1, "leader_to": 2,
        "bytes": size, "wave": 1,
        "reason": {"code": "fills_broker", "args": {"broker": 3, "resource": "disk", "times_share": 0.5}},
    } | more  # fmt: skip


def test_the_largest_are_shown_and_an_unknown_size_may_be_the_largest() -> None:
    plan = {"moves": [move(number, number) for number in range(MOST_MOVES + 5)] + [move(9999, None)]}
    shown = largest_moves(plan)
    assert len(shown) == MOST_MOVES
    assert [row["partition"] for row in shown[:2]] == ["t-9999", f"t-{MOST_MOVES + 4}"]
    assert (shown[0]["bytes"], shown[0]["from"], shown[0]["to"]) == ("unknown", "1, 2", "2, 3")


def test_a_leader_is_told_as_it_changes_stays_or_comes() -> None:
    moves = [move(0, 3), move(1, 2, leader_from=2), move(2, 1, leader_from=None)]
    assert [row["leader"] for row in largest_moves({"moves": moves})] == ["1 → 2", "2", "none → 2"]


def test_bounds_and_figures_have_their_units() -> None:
    plan = {
        "cost": {"bytes": 2**30, "replica_moves": 12, "leader_changes": 3, "seconds": 7200.0},
        "lower_bound": [
            {"cost": "bytes", "value": 2**29, "gap": 1.0, "proof": "linear_program"},
            {"cost": "seconds", "value": 3600.0, "gap": 1.0, "proof": "busiest_broker"},
        ],
    }
    assert [(row["name"], row["cost"], row["bound"]) for row in bound_rows(plan)] == [
        ("bytes copied", "1.0 GiB", "512.0 MiB"), ("time", "2 h 0 min", "1 h 0 min"),
    ]  # fmt: skip
    assert [figure["value"] for figure in key_figures(plan)[:4]] == ["12", "1.0 GiB", "3", "2 h 0 min"]
