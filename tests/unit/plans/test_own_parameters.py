from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kafka_assignors.errors import InvalidInputError
from kafka_rebalance.advisory.advise import AdviceRequest, advise
from kafka_rebalance.errors import InfeasibleError
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.check import PlanStatus, ReasonCode, check_plan
from kafka_rebalance.plans.params import DEFAULTS, PlanParams
from kafka_rebalance.plans.pipeline import make_plan, require_options_fit
from kafka_rebalance.plans.plan import Move, MoveKind, Plan, Verdict, to_document
from kafka_rebalance.plans.searches import InvalidPlanError, verified
from kafka_rebalance.snapshot.figures import LoadKind
from kafka_rebalance.snapshot.model import Capacity, ClusterSnapshot
from tests.coverage_gaps import gap_of
from tests.facts_said import said
from tests.unit.planner.sample_clusters import GB, brokers, cluster, random_cluster, row
from tests.unit.plans.hand_plans import ROWS, SNAPSHOT

WHY, WORSE = fact(FactCode.SEPARATES_RACKS), fact(FactCode.SHARES_RACK)
HALF_MIB = 2**19
EVEN = [row("t", p, (p, (p + 1) % 3), GB) for p in range(3)]
# Twelve partitions of 1 GB on brokers 0 and 1, none on 2 and 3: half of the replicas move.
PILED = cluster([row("t", p, (p % 2, 1 - p % 2), GB) for p in range(12)], brokers(4))
BALANCE = PlanOptions(within=0.1, with_frontier=False)


def own(part: str, **values: Any) -> PlanParams:
    """The defaults but for some numbers of one part."""
    return replace(DEFAULTS, **{part: replace(getattr(DEFAULTS, part), **values)})


def plan(params: PlanParams = DEFAULTS, snapshot: ClusterSnapshot = PILED, options: PlanOptions = BALANCE) -> Plan:
    return make_plan(snapshot, options, params=params)


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return json.loads(json.dumps(to_document(plan())))


def test_the_replication_factor_that_is_not_planned_at_all(document: dict[str, Any]) -> None:
    """Six replicas on four brokers: the default looks for a plan, and finds that there is none."""
    asked = replace(BALANCE, replication_factor=6)
    assert plan(options=asked).verdict is Verdict.INFEASIBLE
    few = own("options", most_replication_factor=5)
    for refused in (make_plan, require_options_fit):
        with pytest.raises(InfeasibleError, match=r"factor_above_brokers\(replication_factor=6, brokers=4"):
            refused(PILED, asked, params=few)
    sealed = json.loads(json.dumps(to_document(plan(options=asked))))
    assert check_plan(sealed, PILED).status is PlanStatus.STALE
    with pytest.raises(InvalidInputError, match="replication factor 6 on 4 brokers"):
        check_plan(json.loads(json.dumps(to_document(_with_moves(asked)))), PILED, few)


def _with_moves(asked: PlanOptions) -> Plan:
    """A sealed plan with moves and the parameters ``asked``."""
    made = plan()
    return replace(made, parameters=made.parameters | {"replication_factor": asked.replication_factor}).sealed()


def test_disks_that_are_alike() -> None:
    """100.0, 100.2 and 100.5 GB differ by 0.5 %: alike by the default of 1 %, not by one of 0.1 %."""
    sizes = (100.0, 100.2, 100.5)
    disks = [replace(b, capacity=Capacity(disk_bytes=s * GB)) for b, s in zip(brokers(3), sizes, strict=True)]
    snapshot = cluster(EVEN, disks)
    assert not said(plan(snapshot=snapshot).reasons, FactCode.DISKS_DIFFER)
    strict = plan(own("options", same_disk_ratio=1.001), snapshot)
    (args,) = said(strict.reasons, FactCode.DISKS_DIFFER)
    assert (args["smallest_bytes"], args["smallest_broker"]) == (100 * GB, 0)


def test_how_much_an_unseen_topic_may_be() -> None:
    """It may be twice the mean topic, and a broker is outside; at nothing, there is nothing to do."""
    gap = gap_of("topic", "secret", FactCode.LACKS_DESCRIPTION, "denied")
    snapshot = replace(cluster(EVEN, brokers(3)), coverage=(gap,))
    options = PlanOptions(with_frontier=False)
    assert plan(snapshot=snapshot, options=options).verdict is Verdict.CANNOT_TELL
    assert plan(own("unseen", times_mean=0.0), snapshot, options).verdict is Verdict.NOTHING_TO_DO


@pytest.mark.parametrize("snapshot", [PILED, replace(cluster([], []), topics=())], ids=["moves", "no broker"])
def test_moves_at_a_time(snapshot: ClusterSnapshot) -> None:
    assert plan(snapshot=snapshot).parameters["moves_per_broker"] == 10
    assert plan(own("waves", least_slots=3), snapshot).parameters["moves_per_broker"] == 3


def test_waves_and_the_way_back_raise_a_throttle_by_the_callers_ratio() -> None:
    """1 MiB/s is written to each partition, the throttle is half of that: it is raised to the rate times 1.25, or 3."""
    rates = {LoadKind.IN_BYTES_PER_S: [2.0**20] * len(ROWS)}
    snapshot, options = cluster(ROWS, brokers(3), rates=rates), replace(BALANCE, throttle_bytes_per_s=HALF_MIB)
    usual, high = (plan(p, snapshot, options) for p in (DEFAULTS, own("waves", throttle_over_rate=3.0)))
    for first, other in ((usual.waves, high.waves), (usual.rollback.waves, high.rollback.waves)):
        raised = [(a.throttle_bytes_per_s, b.throttle_bytes_per_s) for a, b in zip(first, other, strict=True)]
        assert raised
        assert all((b - 1) * 1.25 == pytest.approx((a - 1) * 3.0, rel=1e-6) for a, b in raised if a > HALF_MIB)
        assert any(a > HALF_MIB for a, _ in raised)


def test_how_many_copies_a_driver_keeps_under_way() -> None:
    """One in each direction of a broker, or so many that all start at once: another time, there and back."""
    snapshot = random_cluster(2, broker_count=5, topics=12, with_rates=False)
    first, many = (plan(own("waves", driver_slots=slots, least_slots=2), snapshot) for slots in (1, 50))
    assert first.moves == many.moves
    assert first.cost.seconds_slot_filling != many.cost.seconds_slot_filling
    assert first.rollback.cost.seconds_slot_filling != many.rollback.cost.seconds_slot_filling


def test_a_frontier_of_fewer_points_than_the_caller_wants_is_none() -> None:
    options = replace(BALANCE, with_frontier=True)
    frontier = plan(options=options).frontier
    assert len(frontier) >= DEFAULTS.frontier.least_points
    assert plan(own("frontier", least_points=len(frontier) + 1), options=options).frontier == ()


def test_trials_of_robustness() -> None:
    assert plan(own("robustness", trials=3)).robustness.trials == 3


def test_reasons_of_one_kind_that_are_shown(document: dict[str, Any]) -> None:
    """Every partition is on brokers 2 and 3 in an order that the plan rejects for most of them."""
    today = cluster([row("t", p, (3, 2), GB) for p in range(12)], brokers(4))
    moved = {
        most: [
            reason.facts
            for reason in check_plan(document, today, own("check", reasons_per_code=most)).because
            if reason.code is ReasonCode.PARTITION_MOVED
        ]
        for most in (1, 100)
    }
    assert len(moved[100]) > 2
    assert moved[1] == [moved[100][0], (fact(FactCode.AND_MORE, count=len(moved[100]) - 1),)]


def test_faults_that_a_refusal_names() -> None:
    """Every move has another number of bytes."""
    made = plan()
    forged = replace(made, moves=tuple(replace(move, bytes=(move.bytes or 0) + 1) for move in made.moves)).sealed()
    with pytest.raises(InvalidPlanError) as usual:
        verified(forged, PILED)
    with pytest.raises(InvalidPlanError) as short:
        verified(forged, PILED, own("check", reasons_per_code=1).check)
    assert str(usual.value).startswith(str(short.value))
    assert len(short.value.args[0]) < len(usual.value.args[0])


def test_how_much_worse_is_harm() -> None:
    """The one move gives partition 2 (5 GB) from broker 2 to 1: 15, 15 and nothing where it was 15, 10 and 5."""
    made = plan(snapshot=SNAPSHOT, options=replace(BALANCE, within=0.2))
    move = Move("t", 2, (0, 2), (0, 1), 0, 0, MoveKind.REPLICA, 5 * GB, 1, WHY, WORSE)
    forged = replace(made, moves=(move,), waves=(replace(made.waves[0], moves=(0,)),)).sealed()
    sealed = json.loads(json.dumps(to_document(forged)))
    usual, easy = check_plan(sealed, SNAPSHOT), check_plan(sealed, SNAPSHOT, own("check", least_harm=100.0))
    assert (usual.status, usual.codes) == (PlanStatus.HARMFUL, (ReasonCode.BALANCE_WORSE,))
    assert (easy.status, easy.codes) == (PlanStatus.NOT_WORTH_IT, (ReasonCode.GAINS_TOO_LITTLE,))


def test_the_whole_way_takes_them_too() -> None:
    advice = advise(PILED, AdviceRequest(BALANCE), params=own("waves", least_slots=7))
    assert advice.plan.parameters["moves_per_broker"] == 7
    assert np.isfinite(advice.plan.cost.seconds)
