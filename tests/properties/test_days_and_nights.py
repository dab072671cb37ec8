"""Fourteen days and a week of nights: a plan stays, what is done is not undone, small budgets cost no more."""

from __future__ import annotations

import pytest

from kafka_rebalance.plans.plan import Verdict
from tests.properties.days_and_nights import a_week_of_nights, changed_moves, days, moves_of, undone
from tests.sample import for_each


@pytest.mark.planned
@for_each("seed", range(20), fast=range(1), rest_mark=pytest.mark.matrix)
def test_a_plan_that_nobody_executes_changes_in_few_of_its_moves_a_day(seed: int) -> None:
    planned = 0
    for plan, left in days(seed, is_executed=False):
        planned += bool(left)
        assert not left or changed_moves(left, moves_of(plan)) <= 0.05 * len(left)
    assert planned >= 10


@pytest.mark.planned
@for_each("seed", range(20), fast=range(1), rest_mark=pytest.mark.matrix)
def test_steps_that_are_done_are_crossed_off_and_not_undone(seed: int) -> None:
    done = list(days(seed, is_executed=True))
    for plan, left in done:
        assert (
            not left or plan.verdict is not Verdict.REBALANCE or changed_moves(left, moves_of(plan)) <= 0.05 * len(left)
        )
    assert undone(done) == 0
    assert done[-1][0].verdict is Verdict.NOTHING_TO_DO


@pytest.mark.planned
@for_each("seed", range(20), fast=range(1), rest_mark=pytest.mark.matrix)
def test_a_week_of_small_budgets_copies_hardly_more_than_one_plan(seed: int) -> None:
    week = a_week_of_nights(seed)
    assert week.unbudgeted.verdict is Verdict.REBALANCE
    assert week.end.verdict is Verdict.NOTHING_TO_DO
    assert week.bytes_ratio <= 1.05
