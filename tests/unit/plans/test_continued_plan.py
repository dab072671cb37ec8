from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from kafka_rebalance.facts import FactCode
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import Plan, StepKind, Verdict, to_document
from kafka_rebalance.snapshot.model import ClusterSnapshot
from kafka_rebalance.snapshot.partition_table import partition_table
from kafka_rebalance.verify import verify_plan
from tests.properties.clusters_with_everything import cluster_with_everything
from tests.unit.planner.sample_clusters import GB, brokers, cluster, row


def skewed(grown: dict[int, float] | None = None) -> ClusterSnapshot:
    """Five brokers, broker 0 holds half of 60 partitions; ``grown`` multiplies some sizes."""
    rows = [row("t", p, [0] if p < 30 else [1 + p % 4], GB + p * GB // 60) for p in range(60)]
    factors = grown or {}
    rows = [
        replace(
            partition_row, log_bytes=(int((partition_row.log_bytes[0] or 0) * factors.get(partition_row.partition, 1)),)
        )
        for partition_row in rows
    ]
    return cluster(rows, brokers(5))


def planned(snapshot: ClusterSnapshot, options: PlanOptions, previous: Plan | None = None) -> Plan:
    plan = make_plan(snapshot, options, previous=None if previous is None else to_document(previous))
    assert [str(fault) for fault in verify_plan(to_document(plan), snapshot).wrong] == []
    return plan


def least_bytes(plan: Plan) -> float:
    return next(bound.value for bound in plan.lower_bound if bound.cost == "bytes")


def moved(plan: Plan) -> set[int]:
    return {move.partition for move in plan.moves}


def without_frontier(**fields: object) -> PlanOptions:
    return PlanOptions(with_frontier=False, **fields)  # type: ignore[arg-type]


def test_a_plan_of_which_a_part_is_done_is_confirmed_for_the_rest() -> None:
    first = planned(skewed(), without_frontier())
    done = {move.partition: move.to_replicas for move in first.moves[:5]}
    rows = [
        replace(
            partition,
            replicas=done[partition.partition],
            leader=done[partition.partition][0],
            isr=done[partition.partition],
        )
        if partition.partition in done
        else partition
        for partition in skewed().each_partition()
    ]
    snapshot = replace(skewed(), partitions=partition_table(rows, {"t": 0}))
    again = planned(snapshot, without_frontier(), first)
    assert again.continues == first.plan_id
    assert moved(again) == moved(first) - set(done)
    assert (again.reasons[0].args["done_moves"], again.reasons[0].args["moves"]) == (5, len(first.moves))


def test_a_plan_that_the_cluster_drifted_away_from_is_continued_with_more_moves() -> None:
    first = planned(skewed(), without_frontier())
    grown = dict.fromkeys((p for p in range(30, 60) if p % 4 == 0), 1.6)
    again = planned(skewed(grown), without_frontier(), first)
    assert again.continues == first.plan_id
    assert again.reasons[0].code is FactCode.PLAN_CONTINUED
    assert moved(first) < moved(again)


def test_a_plan_for_another_cluster_state_is_replaced() -> None:
    """Broker 0's load has vanished; broker 1 is the full one now."""
    first = planned(skewed(), without_frontier())
    grown = dict.fromkeys(range(30), 0.01) | dict.fromkeys((p for p in range(30, 60) if 1 + p % 4 == 1), 5.0)
    again = planned(skewed(grown), without_frontier(), first)
    assert again.verdict is Verdict.REBALANCE
    disk = next(resource for resource in again.resources if resource.resource == "disk")
    assert disk.skew_after < disk.skew_before


def test_an_unapplied_plan_within_a_budget_is_confirmed_though_it_does_not_reach_the_band() -> None:
    options = without_frontier(max_moves=8)
    first = planned(skewed(), options)
    again = planned(skewed(), options, first)
    assert again.continues == first.plan_id
    assert moved(again) == moved(first)
    assert again.cost.replica_moves <= 8


def test_a_smaller_budget_than_yesterdays_is_kept() -> None:
    first = planned(skewed(), without_frontier())
    again = planned(skewed(), without_frontier(max_moves=5), first)
    assert first.cost.replica_moves > 5 >= again.cost.replica_moves > 0
    assert again.continues is None


def test_a_continued_plan_costs_no_more_than_its_budget() -> None:
    free = planned(skewed(), without_frontier())
    options = without_frontier(max_moves=free.cost.replica_moves)
    first = planned(skewed(), options)
    grown = dict.fromkeys((p for p in range(30, 60) if p % 4 == 0), 1.6)
    again = planned(skewed(grown), options, first)
    assert 0 < again.cost.replica_moves <= free.cost.replica_moves


@pytest.mark.parametrize("seed", [9, 11])
def test_a_confirmed_plan_keeps_its_certificate(seed: int) -> None:
    """Prices found step by step for the first plan prove as much the day after; 0 of its moves are done."""
    drawn = Random(seed)
    rows = []
    for p in range(60):
        first_broker = min(int(drawn.random() ** 1.6 * 5), 4)
        rows.append(
            row("t", p, [first_broker, (first_broker + 1 + drawn.randrange(4)) % 5], drawn.randrange(1, 60) * GB // 10)
        )
    snapshot, options = cluster(rows, brokers(5)), without_frontier(within=0.05)
    first = planned(snapshot, options)
    again = planned(snapshot, options, first)
    assert again.continues == first.plan_id
    assert (again.reasons[0].args["done_moves"], again.reasons[0].args["moves"]) == (0, len(first.moves))
    assert least_bytes(again) >= least_bytes(first) * (1 - 1e-9)


def test_earlier_prices_prove_what_todays_loads_make_of_them() -> None:
    """A claim of the earlier plan counts for nothing: its prices are proved anew, where sizes have halved meanwhile."""
    options = without_frontier(within=0.05)
    first = planned(skewed(), options)
    forged = to_document(first)
    forged["lower_bound"] = [bound | {"value": 1e18} for bound in forged["lower_bound"]]
    forged["certificate"] = {
        name: {broker: 50 * price for broker, price in prices.items()} for name, prices in forged["certificate"].items()
    }
    smaller = skewed(dict.fromkeys(range(60), 0.5))
    again = make_plan(smaller, options, previous=forged)
    assert again.continues == first.plan_id
    assert [str(fault) for fault in verify_plan(to_document(again), smaller).wrong] == []
    assert 0 < least_bytes(again) <= (again.cost.bytes or 0)


def led_and_held_unevenly() -> ClusterSnapshot:
    """Five brokers: 0 leads what is preferred elsewhere, and holds most."""
    rows = [row("t", p, [p % 5, (p + 1 + p % 3) % 5], GB) for p in range(30)]
    rows = [replace(each, leader=0) if 0 in each.replicas else each for each in rows]
    rows += [row("t", p, [0, 1 + p % 4], GB + p * GB // 60) for p in range(30, 60)]
    return cluster(rows, brokers(5))


def changes(plan: Plan) -> set[tuple[int, tuple[int, ...], int]]:
    return {(move.partition, move.to_replicas, move.leader_to) for move in plan.moves}


@pytest.mark.parametrize("at", [StepKind.ELECT, StepKind.REPAIR, StepKind.RELIEVE])
def test_a_plan_is_cut_at_a_step_and_goes_on_behind_it(at: StepKind) -> None:
    """The day after: cut, the earlier plan's steps are as approved; whole, a cut one's moves stay and others follow."""
    snapshot = led_and_held_unevenly()
    whole, cut = planned(snapshot, without_frontier()), planned(snapshot, without_frontier(at=at.value))
    assert [step.kind for step in whole.steps] == [StepKind.ELECT, StepKind.EVEN_OUT]
    again = planned(snapshot, without_frontier(at=at.value), whole)
    assert changes(again) == changes(cut) < changes(whole)
    assert (again.continues, again.reasons[0].code) == (whole.plan_id, FactCode.PLAN_CONFIRMED)
    assert again.steps[0].lower_bound_bytes == whole.steps[0].lower_bound_bytes
    further = planned(snapshot, without_frontier(), cut)
    assert (further.continues, further.reasons[0].code) == (cut.plan_id, FactCode.PLAN_CONTINUED)
    assert changes(cut) < changes(further)
    assert [step.kind for step in further.steps] == [StepKind.ELECT, StepKind.EVEN_OUT]


def test_a_plan_that_ends_with_the_moves_of_before_is_confirmed_though_a_stage_adapted_it(
    whole_search: None,
) -> None:
    snapshot, options = cluster_with_everything(135)
    options = replace(options, with_frontier=False)
    first = planned(snapshot, options)
    again = make_plan(snapshot, options, seed=1, previous=to_document(first))
    assert changes(again) == changes(first)
    assert (again.continues, again.reasons[0].code) == (first.plan_id, FactCode.PLAN_CONFIRMED)
