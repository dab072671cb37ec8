from __future__ import annotations

import copy
from dataclasses import fields
from datetime import UTC, datetime
from typing import Any

import pytest

from kafka_assignors.errors import InvalidInputError
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import to_document
from kafka_rebalance.policy import PlanPolicy, WeeklyWindow, broken_rules
from kafka_rebalance.render import render
from tests.unit.plans.hand_plans import SNAPSHOT

# 4 GB in one move to broker 2 at 50 MiB/s: 76.3 s; 2 leaders change; 3 GB are provably needed.
PLAN: dict[str, Any] = to_document(make_plan(SNAPSHOT, PlanOptions(within=0.2, with_frontier=False)))
SECONDS = 4e9 / (50 * 2**20)
NIGHT = WeeklyWindow.from_text("22:00-05:00")
SHORT = WeeklyWindow.from_text("22:00-22:01")

KEPT = {
    "max_hours": SECONDS / 3600,
    "max_wave_hours": SECONDS / 3600,
    "max_move_bytes": 4_000_000_000,
    "max_moves": 1,
    "max_leader_changes": 2,
    "max_throttle_bytes_per_s": 50 * 2**20,
    "max_gap": 1 / 3 + 1e-9,
    "never_moved": ("T", "t-.*"),
    "never_filled": (0, 1),
    "windows": (NIGHT,),
}
BROKEN = {
    "max_hours": SECONDS / 3600 * 0.999,
    "max_wave_hours": SECONDS / 3600 * 0.999,
    "max_move_bytes": 3_999_999_999,
    "max_moves": 0,
    "max_leader_changes": 1,
    "max_throttle_bytes_per_s": 50 * 2**20 - 1,
    "max_gap": 0.333,
    "never_moved": ("t|u",),
    "never_filled": (2,),
    "windows": (SHORT,),
}


def test_every_limit_is_tried() -> None:
    assert [field.name for field in fields(PlanPolicy)] == list(KEPT) == list(BROKEN)


@pytest.mark.parametrize("name", KEPT)
def test_a_limit_is_kept_at_its_value_and_broken_below_it(name: str) -> None:
    assert broken_rules(PLAN, PlanPolicy(**{name: KEPT[name]})) == []
    (broken,) = broken_rules(PLAN, PlanPolicy(**{name: BROKEN[name]}))
    assert name.startswith(broken.rule)


def test_each_limit_is_told_and_none_hides_another() -> None:
    broken = broken_rules(PLAN, PlanPolicy(**BROKEN))
    assert list(BROKEN) == ["max_throttle_bytes_per_s" if rule.rule == "max_throttle" else rule.rule for rule in broken]
    text = {rule.rule: render(rule.fact) for rule in broken}
    assert text["max_move_bytes"].startswith("3.7 GiB, at most")
    assert text["max_gap"] == "33.33 %, at most 33.30 % allowed"
    assert text["never_moved"].startswith("the plan touches t-")
    assert text["windows"] == "wave 2 takes 1 min, the longest window is 1 min"


def test_carrying_out_begins_within_a_window() -> None:
    policy = PlanPolicy(windows=(NIGHT,))
    assert broken_rules(PLAN, policy, datetime(2026, 11, 23, 23, 0, tzinfo=UTC)) == []
    (broken,) = broken_rules(PLAN, policy, datetime(2026, 11, 23, 12, 0, tzinfo=UTC))
    assert render(broken.fact) == "Mon 12:00 UTC is outside every window"


def test_what_is_not_known_is_within_no_limit() -> None:
    unknown = copy.deepcopy(PLAN)
    unknown["cost"] |= {"bytes": None, "seconds": None}
    unknown["waves"][1]["seconds"] = None
    policy = PlanPolicy(max_hours=99, max_move_bytes=10**18, max_gap=1e6, windows=(NIGHT,))
    assert [rule.rule for rule in broken_rules(unknown, policy)] == [
        "max_hours",
        "max_move_bytes",
        "max_gap",
        "windows",
    ]


def test_a_plan_that_moves_nothing_keeps_every_policy() -> None:
    still = PLAN | {"moves": [], "waves": []}
    assert broken_rules(still, PlanPolicy(**BROKEN), datetime(2026, 11, 23, 12, 0, tzinfo=UTC)) == []


def test_a_pattern_that_is_none_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="never_moved"):
        PlanPolicy(never_moved=("(",))
