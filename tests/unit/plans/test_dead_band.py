from __future__ import annotations

import copy
import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from kafka_rebalance.cluster_arrays.problem import broker_loads
from kafka_rebalance.facts import FactCode
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.dead_band import worst_deviation
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import Plan, StepKind, Verdict, to_document
from kafka_rebalance.plans.request import build_request
from kafka_rebalance.snapshot.figures import LoadKind
from kafka_rebalance.snapshot.model import Capacity, ClusterSnapshot
from kafka_rebalance.verify import verify_plan
from tests.unit.planner.sample_clusters import GB, brokers, cluster, random_cluster, row


def test_who_stayed_put_stays_put_until_a_tenth_beyond_the_dead_band() -> None:
    snapshot, options = random_cluster(3, broker_count=6, topics=12), PlanOptions(with_frontier=False)
    problem = build_request(snapshot, options).problem(options.band)
    worst = worst_deviation(problem, broker_loads(problem, problem.replicas, problem.leader), options.band or 0.0)
    assert worst is not None
    far = abs(worst.ratio - 1)
    resting = make_plan(snapshot, replace(options, dead_band=far * 2))
    just_beyond, well_beyond = replace(options, dead_band=far / 1.05), replace(options, dead_band=far / 1.15)

    assert resting.verdict is Verdict.NOTHING_TO_DO
    assert make_plan(snapshot, just_beyond).verdict is Verdict.REBALANCE
    assert make_plan(snapshot, just_beyond, previous=to_document(resting)).verdict is Verdict.NOTHING_TO_DO
    assert make_plan(snapshot, well_beyond, previous=to_document(resting)).verdict is Verdict.REBALANCE


QUICK = PlanOptions(with_frontier=False)


def filled(shares: Sequence[float], *, rate_shares: Sequence[float] = ()) -> ClusterSnapshot:
    """Broker i holds ``shares[i]`` of its 100 GB in replicas of 1 GB, and carries ``rate_shares[i]`` of what it can."""
    rows, rates = [], []
    for broker, share in enumerate(shares):
        for _ in range(round(100 * share)):
            rows.append(row("t", len(rows), (broker,)))
            rates.append(rate_shares[broker] / share if rate_shares else 0.0)
    capacity = Capacity(disk_bytes=100 * GB, in_bytes_per_s=100.0 if rate_shares else None)
    known = [replace(broker, capacity=capacity) for broker in brokers(len(shares))]
    return cluster(rows, known, rates={LoadKind.IN_BYTES_PER_S: rates} if rate_shares else None)


def after(snapshot: ClusterSnapshot, plan: Plan) -> ClusterSnapshot:
    """The cluster once the plan is carried out."""
    moves = {(move.topic, move.partition): move.to_replicas for move in plan.moves}
    rows = [
        row(old.topic, old.partition, moves.get((old.topic, old.partition), old.replicas))
        for old in snapshot.each_partition()
    ]
    return replace(cluster(rows, snapshot.brokers), loads=snapshot.loads)


def reason_of(plan: Plan, code: FactCode) -> dict[str, Any] | None:
    return next((dict(reason.args) for reason in plan.reasons if reason.code is code), None)


def highest(plan: Plan, resource: str) -> tuple[float, float]:
    """Highest share of capacity before and after."""
    outcome = next(outcome for outcome in plan.resources if outcome.resource == resource)
    assert outcome.capacity is not None
    capacity = outcome.capacity
    before, now = (max(loads[b] / capacity[b] for b in loads) for loads in (outcome.before, outcome.after))
    return round(before, 6), round(now, 6)


UNEVEN = [0.90, 0.84, 0.70, 0.68, 0.66]  # mean 0.756; broker 0 at 1.19, broker 4 at 0.87 of it


def test_a_full_disk_is_relieved_inside_the_dead_band_and_nothing_else_moves() -> None:
    snapshot = filled(UNEVEN)
    plan = make_plan(snapshot, QUICK)
    assert verify_plan(plan.document, snapshot).wrong == ()
    assert [step.kind for step in plan.steps] == [StepKind.RELIEVE]
    assert all(move.from_replicas == (0,) for move in plan.moves)
    assert highest(plan, "disk") == (0.90, 0.84)
    assert reason_of(plan, FactCode.BROKERS_NEARLY_FULL) == {
        "resource": "disk", "brokers": 1, "broker": 0, "capacity_share": 0.90, "mean_share": pytest.approx(0.756),
        "relieved_to": 0.80,
    }  # fmt: skip
    stops = reason_of(plan, FactCode.STOPS_AT_STEP)
    assert stops is not None
    assert (stops["step"], stops["is_asked"]) == ("relieve", False)
    assert stops["left_replica_moves"] > 0
    # The day after there is nothing to do.
    relieved = after(snapshot, plan)
    assert make_plan(relieved, QUICK, previous=plan.document).verdict is Verdict.NOTHING_TO_DO


def test_a_full_network_is_relieved_inside_the_dead_band() -> None:
    snapshot = filled([0.5] * 5, rate_shares=UNEVEN)
    plan = make_plan(snapshot, QUICK)
    assert verify_plan(plan.document, snapshot).wrong == ()
    assert StepKind.RELIEVE in {step.kind for step in plan.steps}
    before, now = highest(plan, "in")
    assert (before, now <= 0.85) == (0.90, True)


@pytest.mark.parametrize("max_moves", [1, 3, 12])
def test_a_budget_goes_to_the_full_disk_first(max_moves: int) -> None:
    snapshot = filled([0.91, 0.20, 0.60, 0.62, 0.60])  # broker 1 is farther from its share
    plan = make_plan(snapshot, replace(QUICK, max_moves=max_moves))
    assert verify_plan(plan.document, snapshot).wrong == ()
    assert [move.from_replicas for move in plan.moves][:11] == [(0,)] * min(max_moves, 11)


@pytest.mark.parametrize(("shares", "excluded"), [([0.90, 0.88, 0.89], False), (UNEVEN, True)])
def test_a_full_disk_that_moves_do_not_help_is_no_reason_to_do_nothing(shares: list[float], excluded: bool) -> None:
    snapshot = filled(shares)
    topics = frozenset({"t"}) if excluded else frozenset()
    plan = make_plan(snapshot, replace(QUICK, exclude_topics=topics))
    assert verify_plan(plan.document, snapshot).wrong == ()
    assert plan.verdict is Verdict.NOT_FIXABLE_BY_MOVING
    full = reason_of(plan, FactCode.BROKERS_NEARLY_FULL)
    assert full is not None
    assert (full["relieved_to"] is None) is not excluded
    document = copy.deepcopy(dict(plan.document)) | {"verdict": "nothing_to_do"}
    assert "verdict" in {fault.code for fault in verify_plan(document, snapshot).wrong}


def test_a_disk_that_fills_soon_is_relieved_inside_the_dead_band() -> None:
    snapshot = filled([0.80, 0.66, 0.66, 0.66, 0.66])
    assert make_plan(snapshot, QUICK).verdict is Verdict.NOTHING_TO_DO
    plan = make_plan(snapshot, replace(QUICK, disk_growth={0: GB}))
    assert verify_plan(plan.document, snapshot).wrong == ()
    assert [step.kind for step in plan.steps] == [StepKind.RELIEVE]
    assert {move.from_replicas for move in plan.moves} == {(0,)}


@pytest.mark.parametrize(
    ("code", "name", "value"),
    [
        ("brokers_nearly_full", "capacity_share", 0.7),
        ("brokers_nearly_full", "relieved_to", 0.9),
        ("brokers_nearly_full", "resource", "in"),
        ("stops_at_step", "step", "repair"),
        ("stops_at_step", "step", "even_out"),
        ("stops_at_step", "is_asked", True),
    ],
)
def test_a_false_fact_of_relief_is_refused(code: str, name: str, value: object) -> None:
    snapshot = filled(UNEVEN)
    document = copy.deepcopy(dict(make_plan(snapshot, QUICK).document))
    next(reason["args"] for reason in document["reasons"] if reason["code"] == code)[name] = value
    assert "verdict" in {fault.code for fault in verify_plan(document, snapshot).wrong}


@pytest.mark.parametrize(
    ("parameters", "kind"),
    [
        ({"at": "elect"}, "relieve"),
        ({"at": "even_out"}, "relieve"),
        ({"caps": {"leaders": 1e6}, "is_explicit": True}, "relieve"),
        ({}, "even_out"),
    ],
)
def test_a_stop_belongs_to_its_request_and_its_last_step(parameters: dict[str, object], kind: str) -> None:
    snapshot = filled(UNEVEN)
    document = copy.deepcopy(dict(make_plan(snapshot, QUICK).document))
    assert document["parameters"].keys() >= parameters.keys()
    document["parameters"] |= parameters
    document["steps"][-1]["kind"] = kind
    assert "verdict" in {fault.code for fault in verify_plan(document, snapshot).wrong}


def test_only_a_plan_inside_the_dead_band_may_stop_after_relief() -> None:
    snapshot = filled([0.95, 0.70, 0.50, 0.50, 0.50])
    plan = make_plan(snapshot, replace(QUICK, dead_band=0.6))
    assert reason_of(plan, FactCode.STOPS_AT_STEP) is not None
    document = copy.deepcopy(dict(plan.document))
    document["parameters"]["dead_band"] = 0.2
    assert "verdict" in {fault.code for fault in verify_plan(document, snapshot).wrong}


@pytest.mark.parametrize("first", range(0, 24, 8))
def test_no_cluster_with_room_keeps_a_full_disk(first: int) -> None:
    """Where the mean leaves room, a plan takes every disk below 85 %, and nothing is nearly full once it is done."""
    seen = set()
    for seed in range(first, first + 8):
        draw = random.Random(seed)
        shares = [draw.uniform(0.6, 0.8) for _ in range(draw.randint(3, 7))]
        shares[0] = draw.uniform(0.86, 0.99)
        snapshot = filled(shares)
        plan = make_plan(snapshot, replace(QUICK, dead_band=draw.choice([0.2, 0.5])), seed=seed)
        assert verify_plan(plan.document, snapshot).wrong == (), seed
        assert highest(plan, "disk")[1] <= 0.85, seed
        again = make_plan(after(snapshot, plan), QUICK, previous=plan.document)
        assert reason_of(again, FactCode.BROKERS_NEARLY_FULL) is None, seed
        seen.add(tuple(step.kind for step in plan.steps))
    assert (StepKind.RELIEVE,) in seen
