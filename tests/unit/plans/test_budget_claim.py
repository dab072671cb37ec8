from __future__ import annotations

from dataclasses import replace

import pytest

from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.planner.params import DEFAULTS, SolveParams
from kafka_rebalance.plans.budget import budget_claim_of
from kafka_rebalance.plans.draft import bands_of, empty_draft, outcome_of
from kafka_rebalance.plans.explain import least_imbalance_in_budget
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import BudgetClaim
from kafka_rebalance.plans.request import build_request
from tests.unit.planner.sample_clusters import random_cluster
from tests.unit.plans.hand_plans import SNAPSHOT


def claimed(params: SolveParams = DEFAULTS, **limits: float) -> BudgetClaim:
    """15, 10 and 5 of 30 GB, 12 at most and 8 at least, without moves."""
    options = replace(PlanOptions(within=0.2, throttle_bytes_per_s=1_000_000), **limits)
    request = build_request(SNAPSHOT, options)
    problem = request.problem(options.band)
    return budget_claim_of(request, problem, bands_of(problem), outcome_of(request, empty_draft(request)), params)


def test_a_budget_that_allows_nothing_leaves_what_is_outside() -> None:
    reported = claimed(max_moves=0, max_leader_changes=0)
    assert reported.imbalance_before == reported.imbalance_after
    assert reported.least_imbalance == pytest.approx(reported.imbalance_after)
    assert set(reported.charges) <= {"replica_moves", "leader_changes"}


def test_hours_limit_bytes() -> None:
    least = [claimed(max_hours=hours).least_imbalance or 0.0 for hours in (1e-9, 0.1, 0.2, 100.0)]
    assert least == sorted(least, reverse=True)
    assert least[0] > least[-1]
    # 1000 s to each of three brokers are 3 GB in either form.
    seconds, copied = claimed(max_hours=500 / 3600), claimed(max_move_bytes=1_500_000_000)
    assert seconds.least_imbalance == pytest.approx(copied.least_imbalance)


def test_where_the_program_is_too_large_nothing_is_proved() -> None:
    program = replace(DEFAULTS.linear_program, arcs=replace(DEFAULTS.linear_program.arcs, most_arcs=0))
    reported = claimed(replace(DEFAULTS, linear_program=program), max_moves=0)
    assert (reported.least_imbalance, reported.prices, reported.charges) == (None, {}, {})
    assert least_imbalance_in_budget(reported) == least_imbalance_in_budget(None) == ()


def test_a_plan_that_its_budget_cuts_short_tells_it() -> None:
    skewed = random_cluster(1, broker_count=6, topics=3)
    plan = make_plan(skewed, PlanOptions(within=0.1, with_frontier=False, max_moves=1))
    assert plan.within_budget is not None
    assert plan.within_budget.imbalance_after < plan.within_budget.imbalance_before
    assert make_plan(SNAPSHOT, PlanOptions(within=0.2, with_frontier=False, max_moves=50)).within_budget is None
    assert make_plan(SNAPSHOT, PlanOptions(within=0.2, with_frontier=False)).within_budget is None
    (reason,) = least_imbalance_in_budget(BudgetClaim(0.3, 0.2, 0.125))
    assert reason.args == {"imbalance": 0.125}
