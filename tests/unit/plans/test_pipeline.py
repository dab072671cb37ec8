from __future__ import annotations

import json
from dataclasses import replace

import pytest

from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.options.values import TopicLeaders
from kafka_rebalance.plans.document import plan_from_document
from kafka_rebalance.plans.pipeline import STAGES, make_plan
from kafka_rebalance.plans.plan import Plan, TraceStep, Verdict, to_document
from kafka_rebalance.verify import verify_plan
from tests.unit.planner.sample_clusters import brokers, cluster, random_cluster, row

SNAPSHOT = random_cluster(3, broker_count=6, topics=8)
QUICK = PlanOptions(within=0.2, with_frontier=False)


def stages_of(plan: Plan) -> list[str]:
    return [step.stage for step in plan.trace]


def test_every_stage_has_a_name_of_its_own_in_this_order() -> None:
    names = [stage.name for stage in STAGES]
    assert names == [
        "usable", "hard_rules", "earlier_plan", "dead_band", "continue", "elect", "balance", "capacity", "budget",
        "preference", "hours", "settle", "worth", "follower_order", "topic_leaders", "survive", "demoted", "waiting",
        "nearly_full", "unseen", "steps", "stop", "adapted", "waves", "plan", "frontier",
    ]  # fmt: skip
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    ("options", "verdict", "stages"),
    [
        (QUICK, Verdict.REBALANCE, ["elect", "balance", "settle", "worth", "steps"]),
        (replace(QUICK, max_moves=5), Verdict.REBALANCE, ["elect", "balance", "budget", "settle", "worth", "steps"]),
        (
            replace(QUICK, prefer="moves"),
            Verdict.REBALANCE,
            ["elect", "balance", "preference", "settle", "worth", "steps"],
        ),
        (replace(QUICK, max_hours=0.05), Verdict.REBALANCE, ["elect", "balance", "hours", "settle", "worth", "steps"]),
        (replace(QUICK, within=None, dead_band=9.0), Verdict.NOTHING_TO_DO, ["dead_band", "follower_order", "unseen"]),
        (
            replace(QUICK, min_topic_leaders=(TopicLeaders(".*", 99),)),
            Verdict.REBALANCE,
            ["elect", "balance", "settle", "worth", "topic_leaders", "steps"],
        ),
    ],
)
def test_only_stages_that_apply_are_in_the_trace(options: PlanOptions, verdict: Verdict, stages: list[str]) -> None:
    plan = make_plan(SNAPSHOT, options)
    assert plan.verdict is verdict
    assert stages_of(plan) == ["usable", "hard_rules", *stages, "waves"]


def test_the_trace_ends_at_the_cost_of_the_plan_and_shows_what_a_budget_took() -> None:
    plan = make_plan(SNAPSHOT, replace(QUICK, max_moves=5))
    step = {step.stage: step for step in plan.trace}
    assert step["balance"].replica_moves > 5 >= step["budget"].replica_moves
    last, cost = plan.trace[-1], plan.cost
    assert (last.replica_moves, last.bytes, last.leader_changes) == (
        cost.replica_moves, cost.bytes, cost.leader_changes,
    )  # fmt: skip


def test_a_stage_that_cannot_keep_its_rule_leaves_no_moves_and_the_search_ends() -> None:
    plan = make_plan(SNAPSHOT, replace(QUICK, remove_brokers=frozenset({0}), max_moves=1))
    assert plan.verdict is Verdict.INFEASIBLE
    assert stages_of(plan)[-2:] == ["budget", "waves"]
    assert plan.trace[-1] == TraceStep("waves", 0, 0, 0)
    assert plan.trace[-3].replica_moves > 1


def test_an_earlier_plan_is_continued_without_a_search() -> None:
    first = json.loads(json.dumps(to_document(make_plan(SNAPSHOT, QUICK))))
    again = make_plan(SNAPSHOT, QUICK, previous=first)
    assert stages_of(again) == ["usable", "hard_rules", "earlier_plan", "continue", "steps", "waves"]
    assert again.continues == first["plan_id"]


def test_whoever_watches_gets_each_step_and_changes_no_byte() -> None:
    seen: list[TraceStep] = []
    options = replace(QUICK, with_frontier=True)
    plan = make_plan(SNAPSHOT, options, watch=seen.append)
    assert [step.stage for step in seen] == [*stages_of(plan), "plan", "frontier"]
    assert to_document(make_plan(SNAPSHOT, options)) == to_document(plan)


def test_the_trace_is_in_the_document_and_comes_back() -> None:
    document = json.loads(json.dumps(to_document(make_plan(SNAPSHOT, QUICK))))
    assert document["trace"][0] == {"stage": "usable", "replica_moves": 0, "bytes": 0, "leader_changes": 0}
    assert to_document(plan_from_document(document)) == document
    assert verify_plan(document, SNAPSHOT).is_right


def test_bytes_of_unknown_sizes_are_none() -> None:
    rows = [row("t", p, (0, 1), None) for p in range(9)]
    plan = make_plan(cluster(rows, brokers(3)), QUICK)
    assert (plan.trace[-1].bytes, plan.trace[-1].replica_moves) == (None, plan.cost.replica_moves)
    assert plan.cost.replica_moves > 0
