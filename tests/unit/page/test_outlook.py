from __future__ import annotations

from datetime import UTC, datetime, timedelta

from rebalance_advisor.page.routes import if_nothing_is_done

CAPTURED = datetime(2026, 7, 1, tzinfo=UTC)
BALANCED = {"resource": "disk", "skew_before": 1.25, "skew_after": 1.02}
UNKNOWN = {"resource": "cpu", "skew_before": None, "skew_after": None}


def plan(**others: int) -> dict[str, int]:
    return {"replica_moves": 0, "leader_changes": 0} | others


def disk(broker: int, days: int | None, **others: object) -> dict[str, object]:
    full_at = None if days is None else CAPTURED + timedelta(days=days)
    return {
        "broker": broker,
        "used_ratio": 0.7,
        "days_of_history": 20,
        "growth_bytes_per_day": None,
        "reaches_85_percent_at": full_at,
        "reaches_85_percent_at_with_plan": None,
    } | others


def test_the_most_loaded_brokers_stay_as_they_are() -> None:
    line = "\n".join(if_nothing_is_done(plan(replica_moves=3), [BALANCED, UNKNOWN], [], CAPTURED))
    assert "disk 1.25 × the mean" in line
    assert "cpu" not in line  # unknown is not invented


def test_leaders_alone_are_a_plan_too_and_without_any_nothing_is_told() -> None:
    assert if_nothing_is_done(plan(leader_changes=2), [BALANCED], [], CAPTURED)
    assert not if_nothing_is_done(plan(), [BALANCED], [], CAPTURED)


def test_a_disk_that_fills_is_told_with_its_days() -> None:
    lines = if_nothing_is_done(plan(), [], [disk(7, 11), disk(8, None)], CAPTURED)
    assert any("broker 7" in line and "11 days" in line for line in lines)
    assert not any("broker 8" in line for line in lines)


def test_a_disk_of_unknown_size_is_not_told() -> None:
    assert not if_nothing_is_done(plan(), [], [disk(7, None, used_ratio=None, days_of_history=None)], CAPTURED)
