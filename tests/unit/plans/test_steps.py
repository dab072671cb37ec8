from __future__ import annotations

import copy
import math
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from kafka_rebalance.facts import FactCode
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import Plan, StepKind, Verdict
from kafka_rebalance.plans.searches import PlanQuestion, planned
from kafka_rebalance.render.steps import step_lines
from kafka_rebalance.snapshot.figures import LoadKind
from kafka_rebalance.snapshot.model import Capacity, ClusterSnapshot
from kafka_rebalance.verify import verify_plan
from rebalance_advisor.dumps.any_input import read_input
from stack.demo.cluster import write_demo_cluster
from tests.unit.planner.sample_clusters import GB, brokers, cluster, row

MB = 10**6
QUICK = PlanOptions(with_frontier=False)


@cache
def demo(folder: Path) -> tuple[ClusterSnapshot, Plan]:
    snapshot = read_input(write_demo_cluster(folder))
    return snapshot, make_plan(snapshot, PlanOptions())


@pytest.fixture(scope="module")
def of_demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[ClusterSnapshot, Plan]:
    return demo(tmp_path_factory.mktemp("steps") / "demo")


@pytest.mark.planned
def test_the_demo_elects_repairs_and_relieves_with_few_moves(of_demo: tuple[ClusterSnapshot, Plan]) -> None:
    snapshot, plan = of_demo
    assert verify_plan(plan.document, snapshot).wrong == ()
    elect, repair, relieve = plan.steps
    assert [step.kind for step in plan.steps] == [StepKind.ELECT, StepKind.REPAIR, StepKind.RELIEVE]
    elected = [plan.moves[number] for wave in elect.waves for number in plan.waves[wave - 1].moves]
    assert elect.cost.bytes == 0
    assert all(move.to_replicas == move.from_replicas for move in elected)
    leaders = next(outcome for outcome in elect.resources if outcome.resource == "leaders")
    assert leaders.skew_before > 1.4
    assert leaders.skew_after <= 1.05
    assert repair.cost.replica_moves == 4
    assert plan.cost.replica_moves <= 40
    disk = next(outcome for outcome in plan.resources if outcome.resource == "disk")
    assert disk.capacity is not None
    left = 0
    for number in plan.waves[relieve.waves[0] - 1].moves:
        move = plan.moves[number]
        left += (move.bytes or 0) * ((9 in move.from_replicas) - (9 in move.to_replicas))
    assert disk.before[9] > 0.9 * disk.capacity[9]
    assert disk.before[9] - left < 0.85 * disk.capacity[9]


@pytest.mark.planned
def test_the_recommendation_says_what_the_rest_would_buy(of_demo: tuple[ClusterSnapshot, Plan]) -> None:
    _, plan = of_demo
    own = next(point for point in plan.frontier if point.is_recommended)
    further = next(reason.args for reason in own.reasons if reason.code is FactCode.POINT_LEAVES_RATES)
    same = next(p for p in plan.frontier if p.tolerance == own.tolerance and not p.is_recommended)
    assert further["replica_moves"] == same.replica_moves - plan.cost.replica_moves > 50
    assert further["further_times_mean"] < further["times_mean"]
    assert all(point.seconds is not None for point in plan.frontier)


@pytest.mark.planned
def test_a_point_of_the_frontier_is_a_plan_of_its_band(of_demo: tuple[ClusterSnapshot, Plan]) -> None:
    snapshot, whole = of_demo
    band = next(point.tolerance for point in whole.frontier if point.name == "knee")
    options = replace(QUICK, at="knee")
    plan = make_plan(snapshot, options)
    assert plan.parameters["balance_within"] == band
    assert planned(PlanQuestion(snapshot, options)).plan.plan_id == plan.plan_id
    assert verify_plan(plan.document, snapshot).wrong == ()


RATES = [40.0, 20.0, 20.0, 20.0]  # MB/s of four partitions, one on each of four brokers with its copy


def with_rates(scale: float, capacity: float | None = None) -> ClusterSnapshot:
    """Broker 0 leads twice of what the others do; disks are even."""
    rows = [row("t", number, (number, (number + 1) % 4), GB) for number in range(4)]
    known = [replace(broker, capacity=Capacity(in_bytes_per_s=capacity)) for broker in brokers(4)]
    rates = {LoadKind.IN_BYTES_PER_S: [scale * rate * MB for rate in RATES]}
    return cluster(rows, known, rates=rates)


@pytest.mark.parametrize(
    ("scale", "capacity", "options", "is_watched"),
    [
        (0.5, None, QUICK, True),  # 30 MB/s beside a throttle of 52
        (1.0, None, QUICK, False),  # 60 MB/s
        (1.0, None, replace(QUICK, throttle_bytes_per_s=100 * MB), True),
        (1.0, 200 * MB, QUICK, True),
        (1.0, 100 * MB, QUICK, False),
        (0.5, None, replace(QUICK, within=0.1), False),
        (0.5, None, replace(QUICK, caps={"in": 90 * MB}), False),
        (0.0, None, QUICK, False),
    ],
)
def test_a_rate_is_watched_while_no_broker_is_near_what_it_can_carry(
    scale: float, capacity: float | None, options: PlanOptions, is_watched: bool
) -> None:
    snapshot = with_rates(scale, capacity)
    plan = make_plan(snapshot, options)
    assert verify_plan(plan.document, snapshot).wrong == ()
    rate = next(outcome for outcome in plan.resources if outcome.resource == "in")
    assert (rate.watched is not None) is is_watched
    assert any(reason.code is FactCode.RATE_IS_WATCHED for reason in plan.reasons) is is_watched
    if rate.watched is not None:
        assert (rate.watched.broker, rate.watched.is_assumed) == (0, capacity is None)
        assert plan.verdict is Verdict.NOTHING_TO_DO


def test_elections_come_first_and_rewrite_no_list() -> None:
    """Four brokers lead three partitions each by their lists; broker 3 was restarted and leads nothing."""
    rows = [
        replace(row("t", number, (number % 4, (number + 1) % 4), GB), leader=number % 4 if number % 4 != 3 else 0)
        for number in range(12)
    ]
    snapshot = cluster(rows, brokers(4))
    plan = make_plan(snapshot, QUICK)
    assert [step.kind for step in plan.steps] == [StepKind.ELECT]
    assert plan.cost.leader_changes == 3
    assert all(move.to_replicas == move.from_replicas for move in plan.moves)
    assert plan.rollback is not None
    assert plan.rollback.cost.leader_changes == 0  # Kafka elects the first of a list, and no list changed
    assert verify_plan(plan.document, snapshot).wrong == ()


def test_a_plan_that_ends_before_its_first_step_says_what_is_left() -> None:
    rows = [row("t", number, (0, 1), GB) for number in range(8)]
    plan = make_plan(cluster(rows, brokers(4)), replace(QUICK, at="elect"))
    assert plan.verdict is Verdict.NOTHING_TO_DO
    assert plan.reasons[0].code is FactCode.STOPS_AT_STEP
    assert plan.reasons[0].args["left_replica_moves"] > 0


def _filling(growth: dict[int, int], at: str | None = None) -> tuple[ClusterSnapshot, Plan]:
    """Broker 0 holds 72 of 100 GB, the others 24; nothing is full today."""
    rows = [row("t", number, (0 if number < 18 else 1 + number % 3,), 4 * GB) for number in range(36)]
    known = [replace(broker, capacity=Capacity(disk_bytes=100 * GB)) for broker in brokers(4)]
    snapshot = cluster(rows, known)
    return snapshot, make_plan(snapshot, replace(QUICK, disk_growth=growth, at=at))


@pytest.mark.parametrize(("growth", "days"), [({1: GB}, None), ({0: GB * 2 // 5}, None), ({0: GB // 2, 1: 5 * GB}, 26)])
def test_a_disk_that_will_be_full_within_30_days_is_relieved(growth: dict[int, int], days: float | None) -> None:
    snapshot, plan = _filling(growth)
    _, unknown = _filling({})
    assert verify_plan(plan.document, snapshot).wrong == ()
    assert plan.moves == unknown.moves
    said = [reason.args for reason in plan.reasons if reason.code is FactCode.DISKS_FILL_SOON]
    if days is None:
        assert (plan.steps, plan.reasons) == (unknown.steps, unknown.reasons)
        assert not said
        return
    assert [step.kind for step in plan.steps] == [StepKind.RELIEVE]
    assert said == [
        {
            "broker": 0, "growth_bytes_per_day": GB // 2, "days": days, "load": 72.0 * GB, "load_after": 36.0 * GB,
            "most": 85.0 * GB, "capacity": 100.0 * GB, "disks": 1, "horizon_days": 30.0, "full_brokers": 0,
        }
    ]  # fmt: skip
    (line,) = step_lines(plan.document)
    assert line.startswith("1. Relieve broker 0: 9 replicas")
    assert "broker 0's disk 72 % → 36 % of capacity" in line
    confirmed = make_plan(snapshot, replace(QUICK, disk_growth=growth), previous=unknown.document)
    assert (confirmed.continues, confirmed.steps) == (unknown.plan_id, plan.steps)


@pytest.mark.parametrize(
    ("name", "value"), [("days", 25.0), ("broker", 1), ("broker", "x"), ("disks", 2), ("full_brokers", 1)]
)
def test_a_false_figure_of_a_disk_that_fills_is_refused(name: str, value: object) -> None:
    snapshot, plan = _filling({0: GB // 2})
    document = copy.deepcopy(plan.document)
    said = next(reason["args"] for reason in document["reasons"] if reason["code"] == "disks_fill_soon")
    said[name] = value
    assert "step" in {fault.code for fault in verify_plan(document, snapshot).wrong}
    document["reasons"] = []
    assert "step" in {fault.code for fault in verify_plan(document, snapshot).wrong}
    _, unknown = _filling({})
    document = {**unknown.document, "steps": [unknown.document["steps"][0] | {"kind": "relieve"}]}
    assert "step" in {fault.code for fault in verify_plan(document, snapshot).wrong}


def test_the_disk_that_is_full_first_is_relieved_in_the_first_waves() -> None:
    """Broker 1 is full in 5 days; broker 0 in 20, with more to give."""
    held = {0: 40, 1: 14, 2: 3, 3: 3, 4: 3, 5: 3}
    owners = [broker for broker, count in held.items() for _ in range(count)]
    rows = [row("t", number, (broker,), (4 if broker else 2) * GB) for number, broker in enumerate(owners)]
    known = [replace(broker, capacity=Capacity(disk_bytes=100 * GB)) for broker in brokers(6)]
    snapshot = cluster(rows, known)
    options = replace(QUICK, moves_per_broker=3, disk_growth={0: GB // 4, 1: 6 * GB})
    plan = make_plan(snapshot, options)
    assert verify_plan(plan.document, snapshot).wrong == ()
    waves = {b: [move.wave for move in plan.moves if move.from_replicas == (b,)] for b in (0, 1)}
    assert len(waves[1]) < len(waves[0])
    assert max(waves[1]) == math.ceil(len(waves[1]) / 3)
