from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import pytest

import kafka_rebalance.plans.searches as module
from kafka_rebalance.facts import Fact, FactCode, fact
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import Plan, to_document
from kafka_rebalance.plans.searches import InvalidPlanError, verified
from kafka_rebalance.snapshot.model import BrokerState, ClusterSnapshot
from kafka_rebalance.verify import verify_plan
from tests.unit.planner.sample_clusters import brokers, cluster, row


@cache
def planned() -> tuple[Plan, ClusterSnapshot]:
    rows = [row("t", p, [p % 2, 2 + p % 2], (1 + p) * 10**8) for p in range(16)]
    snapshot = cluster(rows, brokers(6))
    return make_plan(snapshot, PlanOptions(within=0.2)), snapshot


@pytest.mark.parametrize("options", [PlanOptions(within=0.2), PlanOptions(within=0.2, add_brokers={4: None})])
@pytest.mark.parametrize("is_added_too", [False, True])
def test_brokers_that_the_input_calls_new_are_not_to_be_added(options: PlanOptions, is_added_too: bool) -> None:
    """4 and 5 are in the snapshot, empty and new; 6 is not."""
    rows = [row("t", p, [p % 2, 2 + p % 2], (1 + p) * 10**8) for p in range(16)]
    snapshot = cluster(rows, brokers(6, b4=BrokerState.NEW, b5=BrokerState.NEW))
    if is_added_too:
        options = replace(options, add_brokers=options.add_brokers | {6: None})
    plan = make_plan(snapshot, options)
    receivers = {broker for move in plan.moves for broker in move.to_replicas}
    assert receivers >= {4, 5}
    assert (
        any(fact.code is FactCode.ADDED_BROKERS_JOINED for fact in plan.preconditions)
        is (6 in receivers)
        is is_added_too
    )
    assert verify_plan(to_document(plan), snapshot).faults == ()


def with_bound(cost: str, factor: float) -> Callable[[Plan], Plan]:
    def change(plan: Plan) -> Plan:
        changed = (
            replace(bound, value=bound.value * factor) if bound.cost == cost else bound for bound in plan.lower_bound
        )
        return replace(plan, lower_bound=tuple(changed))

    return change


def without_bound(plan: Plan) -> Plan:
    return replace(plan, lower_bound=plan.lower_bound[1:])


def with_dearer_point(plan: Plan) -> Plan:
    return replace(
        plan, frontier=(*plan.frontier[:2], replace(plan.frontier[2], lower_bound_bytes=1e30), *plan.frontier[3:])
    )


def with_fast_driver(plan: Plan) -> Plan:
    return replace(plan, cost=replace(plan.cost, seconds_slot_filling=0.001))


def bound_of(cost: str) -> Fact:
    return fact(FactCode.BOUND_OF_VERIFIER, cost=cost)


BOOKKEEPING: dict[str, tuple[Callable[[Plan], Plan], Fact]] = {
    "bytes too high": (with_bound("bytes", 1e6), bound_of("bytes")),
    "moves too high": (with_bound("replica_moves", 1e6), bound_of("replica_moves")),
    "seconds a little too high": (with_bound("seconds", 1.3), bound_of("seconds")),
    "gap not of its bound": (with_bound("leader_changes", 0.0), bound_of("leader_changes")),
    "a bound missing": (without_bound, bound_of("bytes")),
    "a point below its bound": (with_dearer_point, fact(FactCode.PART_NOT_VERIFIED, part="frontier")),
    "a driver that is too fast": (with_fast_driver, fact(FactCode.PART_NOT_VERIFIED, part="slot_filling")),
}


@pytest.mark.parametrize("name", BOOKKEEPING)
def test_what_cannot_be_verified_is_lowered_or_left_out_and_said(name: str) -> None:
    plan, snapshot = planned()
    change, note = BOOKKEEPING[name]
    spoiled = change(plan).sealed()
    assert not verify_plan(to_document(spoiled), snapshot).is_right
    reported = verified(spoiled, snapshot)
    assert verify_plan(to_document(reported.plan), snapshot).is_right
    assert note in reported.left_out
    assert reported.plan.reasons == (*plan.reasons, *reported.left_out)
    assert reported.plan.moves == plan.moves
    assert reported.plan.waves == plan.waves
    assert (reported.plan.cost.bytes, reported.plan.cost.seconds) == (plan.cost.bytes, plan.cost.seconds)
    assert {bound.cost for bound in reported.plan.lower_bound} == {bound.cost for bound in plan.lower_bound}
    assert reported.plan.plan_id != spoiled.plan_id


WRONG: dict[str, Callable[[Plan], Plan]] = {
    "bytes": lambda plan: replace(plan, cost=replace(plan.cost, bytes=(plan.cost.bytes or 0) - 1)),
    "a move": lambda plan: replace(plan, moves=(replace(plan.moves[0], to_replicas=(0,)), *plan.moves[1:])),
    "a wave": lambda plan: replace(plan, waves=(replace(plan.waves[0], seconds=0.1), *plan.waves[1:])),
    "a bound and a cost": lambda plan: with_bound("bytes", 1e6)(
        replace(plan, cost=replace(plan.cost, leader_changes=plan.cost.leader_changes + 1))
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_move_a_cost_or_a_wave_that_does_not_hold_refuses_the_plan(name: str) -> None:
    plan, snapshot = planned()
    with pytest.raises(InvalidPlanError, match="did not pass its own verification and is not written"):
        verified(WRONG[name](plan).sealed(), snapshot)


def test_a_good_plan_is_verified_once_and_is_the_same_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    plan, snapshot = planned()
    calls = []
    monkeypatch.setattr(module, "verify_plan", lambda *given: calls.append(given) or verify_plan(*given))
    assert verified(plan, snapshot).plan is plan
    assert len(calls) == 1
