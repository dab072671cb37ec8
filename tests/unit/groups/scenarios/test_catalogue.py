from __future__ import annotations

from kafka_rebalance.groups.scenarios import (
    EVENTS,
    MOST_VARIANTS,
    SCENARIOS,
    STRATEGY_CHANGES,
    most_variants,
    stage_of,
    variants_of,
)
from tests.unit.groups.scenarios.small_groups import reading, state


def test_every_scenario_but_a_change_of_strategy_has_events() -> None:
    assert set(SCENARIOS) - set(EVENTS) == {STRATEGY_CHANGES}
    stage = stage_of(state([reading("a", "t", rack="x"), reading("b", "t", rack="y")], {"t": 3}), seed=3)
    assert (stage.most, stage.seed) == (MOST_VARIANTS, 3)
    for scenario in EVENTS:
        assert all(variant.events and variant.share == 1.0 for variant in variants_of(scenario, stage)), scenario


def test_a_giant_has_fewer_variants() -> None:
    """Two million partitions and members in all variants: 20 up to 100,000 of them, one from a million on."""
    assert [most_variants(size) for size in (0, 100_000, 105_264, 1_000_000, 9_000_000)] == [20, 20, 18, 2, 1]
