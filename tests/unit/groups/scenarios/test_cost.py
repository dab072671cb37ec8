from __future__ import annotations

import pytest

from kafka_rebalance.groups.scenarios import SCENARIOS, estimated_cost, split


def test_the_cost_is_that_of_the_calls() -> None:
    """10 members, 50 partitions: 200 units a call. Today 1 call, each leave 1, a restart without instance ids 2."""
    assert estimated_cost(10, 50) == 200
    assert estimated_cost(10, 50, ("member_leaves",)) == 11 * 200
    assert estimated_cost(10, 50, ("rolling_restart", "member_joins")) == 26 * 200
    # Of 100 members 20 restart: 41 calls of 140 + 150.
    assert estimated_cost(100, 50, ("rolling_restart",)) == 41 * 290


@pytest.mark.parametrize("parts", [1, 2, 3, 5, 40])
def test_parts_hold_each_scenario_once_in_the_catalogues_order(parts: int) -> None:
    result = split(SCENARIOS, 30, 100, parts)
    assert sorted(name for part in result for name in part) == sorted(SCENARIOS)
    assert 1 <= len(result) <= parts
    assert all(list(part) == sorted(part, key=SCENARIOS.index) for part in result)
    # A change of strategy is two rolling restarts and comes with them.
    assert any({"rolling_restart", "strategy_changes"} <= set(part) for part in result)
    assert split((), 30, 100, parts) == []


def test_parts_cost_about_the_same() -> None:
    """The rolling restart is nearly half of it: 40 calls of 20 members each that leave and return."""
    first, other = (estimated_cost(30, 100, part) for part in split(SCENARIOS, 30, 100, 2))
    assert max(first, other) < 1.2 * min(first, other)
