from __future__ import annotations

from dataclasses import replace

import pytest

from kafka_rebalance.errors import UsageError
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.pipeline import make_plan, require_options_fit
from kafka_rebalance.plans.plan import MoveKind, Plan, Verdict, to_document
from kafka_rebalance.snapshot.model import Capacity, ClusterSnapshot
from kafka_rebalance.verify.verification import verify_plan
from tests.facts_said import said
from tests.unit.planner.sample_clusters import brokers, cluster, row
from tests.unit.planner.survive.loss_states import three, tight

LISTS = [[0, 1, 2], [0, 1, 2], [1, 2, 0], [1, 0, 2], [2, 0, 1], [2, 1, 0]]


def right(snapshot: ClusterSnapshot, options: PlanOptions) -> Plan:
    """The plan, found right by the verifier, which simulates every loss."""
    plan = make_plan(snapshot, options)
    assert [str(fault) for fault in verify_plan(to_document(plan), snapshot).wrong] == []
    return plan


def worst(plan: Plan, time: str = "after") -> float:
    """The highest load over capacity after any loss of the kind that is to be survived."""
    losses = getattr(getattr(plan.after_failure, time), plan.parameters["survive"])
    return float(losses.load.ratio)


def test_one_new_order_is_all_that_it_takes() -> None:
    """Each sends 40 of 60, balanced as it is; without 0 broker 1 would send 80."""
    snapshot, options = three(LISTS, [20.0] * 6, 60.0)
    assert make_plan(snapshot, replace(options, survive=None)).verdict is Verdict.NOTHING_TO_DO
    plan = right(snapshot, options)
    assert plan.verdict is Verdict.REBALANCE
    assert [move.kind for move in plan.moves] == [MoveKind.ORDER]
    assert (plan.cost.bytes, plan.cost.leader_changes, worst(plan, "before"), worst(plan)) == (0, 0, 80 / 60, 1.0)
    (args,) = said(plan.reasons[:1], FactCode.LOSS_NOT_SURVIVED)
    assert (args["lost"], args["broker"], args["load"], args["capacity"]) == ("0", 1, 80.0, 60.0)
    of = {"broker": 1, "resource": "out", "lost_kind": "broker", "lost": "0"}
    assert plan.moves[0].reason == fact(FactCode.KEEPS_WITHIN_CAPACITY, **of)
    assert plan.moves[0].worse_without == fact(FactCode.ABOVE_CAPACITY, **of, load=80.0, capacity=60.0)


def test_what_survives_already_stays_and_says_so() -> None:
    snapshot, options = three(LISTS, [20.0] * 6, 90.0)
    plan = right(snapshot, options)
    assert (plan.verdict, plan.moves) == (Verdict.NOTHING_TO_DO, ())
    (args,) = said(plan.reasons, FactCode.LOSSES_SURVIVED)
    assert args == {"kind": "broker", "highest_times_capacity": pytest.approx(80 / 90), "resource": "out"}


def test_too_little_capacity_is_counted() -> None:
    """120 are sent; without one of three brokers of 50 there are 100."""
    snapshot, options = three(LISTS, [20.0] * 6, 50.0)
    plan = right(snapshot, options)
    assert (plan.verdict, plan.moves) == (Verdict.INFEASIBLE, ())
    assert plan.reasons[0] == fact(
        FactCode.LOSS_NOT_SURVIVED, kind="broker", lost="0", broker=None, resource="out", load=120.0, capacity=100.0,
        proof="counted", is_limited=False,
    )  # fmt: skip
    assert plan.reasons[1] == fact(FactCode.ADD_CAPACITY)


def test_lumps_that_nobody_can_place_are_proved_and_named() -> None:
    """Three of 40 on three brokers of 70: two are left, one of them carries 80."""
    snapshot, options = three([[0, 1, 2], [1, 2, 0], [2, 0, 1]], [40.0] * 3, 70.0)
    plan = right(snapshot, options)
    assert plan.verdict is Verdict.INFEASIBLE
    args = plan.reasons[0].args
    assert (args["load"], args["capacity"], args["proof"], args["is_limited"]) == (80.0, 70.0, "all_tried", False)
    alone = right(*three([[0, 1, 2], [1, 2, 0]], [80.0, 1.0], 70.0))
    assert alone.reasons[0] == fact(
        FactCode.PARTITION_ABOVE_LIMIT, partition="t-0", resource="out", load=80.0, limit=70.0, is_capacity=True
    )


def test_budgets_hold_back_what_surviving_takes() -> None:
    """Without 0 broker 1 would send 70, without 1 broker 0 would: all that helps is a replica on 2."""
    snapshot, options = three([[0, 1], [1, 0], [2, 0]], [40.0, 30.0, 1.0], 60.0)
    options = replace(options, dead_band=9.0)
    assert right(snapshot, options).cost.replica_moves == 1
    for fields in ({"max_moves": 0}, {"max_move_bytes": 0}, {"leaders_only": True}):
        plan = right(snapshot, replace(options, **fields))
        assert plan.verdict is Verdict.INFEASIBLE
        assert (plan.reasons[0].args["proof"], plan.reasons[0].args["is_limited"]) == ("all_tried", True)


def test_what_nobody_knows_is_refused() -> None:
    snapshot, options = three(LISTS, [20.0] * 6, 60.0)
    with pytest.raises(UsageError, match=r"--survive broker: of in, out or cpu no load is known with every broker's"):
        require_options_fit(snapshot, replace(options, capacities={}))
    one_rack = cluster([row("t", 0, [0, 1])], brokers(2, racks=1))
    with pytest.raises(UsageError, match="--survive rack: all brokers in service are on one rack"):
        make_plan(one_rack, replace(options, survive="rack", capacities=dict.fromkeys((0, 1), Capacity(cpu_percent=9))))
    with pytest.raises(UsageError, match="--survive: 'disk' cannot be lost; known: broker, rack"):
        PlanOptions(survive="disk")


def test_the_frontier_is_left_out_for_its_points_survive_nothing() -> None:
    snapshot, options = three(LISTS, [20.0] * 6, 60.0)
    assert right(snapshot, replace(options, with_frontier=True)).frontier == ()


def test_nothing_is_survived_by_an_empty_cluster_and_nothing_breaks() -> None:
    assert right(*three([], [], 60.0)).moves == ()


def kept(seeds: range) -> list[Verdict]:
    """Verdicts of random clusters, each plan verified."""
    verdicts = []
    for seed in seeds:
        snapshot, options = tight(seed, most_topics=4, most_in_rack=3)
        more = ({}, {"within": 0.1}, {"max_moves": 3}, {"max_reorders": 5}, {"remove_brokers": frozenset({0})})
        fields = more[seed % len(more)]
        if options.leaders_only and "remove_brokers" in fields:
            fields = {}
        plan = right(snapshot, replace(options, **fields))
        if plan.verdict not in (Verdict.INFEASIBLE, Verdict.CANNOT_TELL):
            assert worst(plan) <= 1 + 1e-9, seed
        verdicts.append(plan.verdict)
    return verdicts


def test_random_clusters_survive_or_say_why_not() -> None:
    assert len(set(kept(range(4)))) > 1


@pytest.mark.matrix
def test_many_random_clusters_survive_or_say_why_not() -> None:
    verdicts = kept(range(4, 104))
    assert verdicts.count(Verdict.REBALANCE) > 40


@pytest.mark.matrix
def test_any_rack_is_survived_on_random_small_clusters_or_it_is_said_why_not() -> None:
    """By the verifier's simulation; else the plan names what is lacking."""
    survived = 0
    for seed in range(1000, 1330):
        snapshot, options = tight(seed)
        if len(snapshot.partitions) > 20:
            continue
        plan = right(snapshot, replace(options, survive="rack"))
        assert plan.verdict is Verdict.INFEASIBLE or worst(plan) <= 1 + 1e-9, seed
        assert plan.verdict is not Verdict.INFEASIBLE or plan.reasons[0].args["load"] > 0, seed
        survived += plan.verdict is not Verdict.INFEASIBLE
    assert survived > 120
