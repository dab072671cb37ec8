from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from kafka_rebalance.facts import FactCode
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.planner.solve import solve
from kafka_rebalance.plans import steps
from kafka_rebalance.plans.budget import first_lifted, lifted, lifts
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import Plan, StepKind, Verdict, to_document
from kafka_rebalance.plans.request import build_request
from kafka_rebalance.snapshot.figures import LoadKind, LoadSource
from kafka_rebalance.snapshot.model import Broker, Capacity, ClusterSnapshot, Partition, Topic, partition_table
from kafka_rebalance.snapshot.partition_table import LoadColumn, PartitionLoads
from kafka_rebalance.verify import verify_plan
from tests.sample import for_each
from tests.unit.verify.sample_plans import as_if_made_from

FAST, ALL = 5, 200


def loaded(seed: int) -> ClusterSnapshot:
    """Four to seven brokers, the first hold most; each can send half to 1.3 times the mean."""
    rng = np.random.default_rng(seed)
    count, rows = int(rng.integers(4, 8)), []
    odds = np.arange(count, 0, -1.0)
    for p in range(60):
        first, second = rng.choice(count, size=2, replace=False, p=odds / odds.sum()).tolist()
        size = int(rng.lognormal(0, 1) * 1e9)
        rows.append(Partition("t", p, (first, second), first, log_bytes=(size, size)))
    ins = rng.lognormal(0, 1, 60) * 1e5
    outs = ins * rng.uniform(0.5, 3, 60)
    capacity = Capacity(out_bytes_per_s=float(outs.sum() / count * rng.uniform(0.5, 1.3)))
    brokers = tuple(Broker(b, rack=f"r{b % 3}", capacity=capacity) for b in range(count))
    rates = {LoadKind.IN_BYTES_PER_S: ins, LoadKind.OUT_BYTES_PER_S: outs}
    loads = PartitionLoads({kind: LoadColumn(values, LoadSource.PROMETHEUS) for kind, values in rates.items()})
    return ClusterSnapshot("c", brokers, (Topic("t"),), partition_table(rows, {"t": 0}), loads=loads)


def planned(snapshot: ClusterSnapshot, **fields: object) -> Plan:
    plan = make_plan(snapshot, PlanOptions(within=0.1, with_frontier=False, **fields))  # type: ignore[arg-type]
    document = json.loads(json.dumps(to_document(plan)))
    assert [str(fault) for fault in verify_plan(document, snapshot).wrong] == []
    return plan


def test_who_would_be_lifted_is_named_with_what_they_can_carry() -> None:
    snapshot = loaded(9)
    problem = build_request(snapshot, PlanOptions(within=0.1)).problem(0.1)
    solution = solve(problem)  # even, and above what they can: what a plan must not be
    assert lifts(problem, solution.after)
    out = problem.resources.index("out")
    assert set(np.argwhere(lifted(problem, solution.after))[:, 1].tolist()) == {out}
    assert first_lifted(problem, solution).args["resource"] == "out"


@for_each("seed", range(ALL), fast=range(FAST), rest_mark=pytest.mark.matrix, rest_items=4)
def test_no_plan_lifts_anybody_above_a_limit(seed: int) -> None:
    """``verify`` looks at each broker: none above its limit carries more than before."""
    snapshot = loaded(seed)
    assert planned(snapshot).verdict in (Verdict.REBALANCE, Verdict.NOT_FIXABLE_BY_MOVING)
    removed = planned(snapshot, remove_brokers=frozenset({0}))
    if removed.verdict is Verdict.INFEASIBLE:
        assert removed.reasons[0].code is FactCode.BROKER_ABOVE_CAPACITY


CAPACITIES = {
    "disk": "disk_bytes", "in": "in_bytes_per_s", "out": "out_bytes_per_s", "cpu": "cpu_percent",
}  # fmt: skip


def known_in_part(seed: int) -> ClusterSnapshot:
    """As ``loaded``; a capacity is known of some brokers alone, at 0.6 to 1.2 times the mean load."""
    draw, snapshot = np.random.default_rng(seed), loaded(seed)
    rates = snapshot.loads.columns | {
        LoadKind.CPU_PERCENT: LoadColumn(draw.lognormal(0, 0.5, 60) / 10, LoadSource.PROMETHEUS)
    }
    plain = replace(
        snapshot, loads=PartitionLoads(rates), brokers=tuple(replace(b, capacity=Capacity()) for b in snapshot.brokers)
    )
    before = planned(plain).document["before"]
    brokers = list(plain.brokers)
    for number in draw.permutation(len(brokers))[: int(draw.integers(1, len(brokers)))].tolist():
        resource = str(draw.choice(sorted(CAPACITIES)))
        mean = sum(before[resource].values()) / len(brokers)
        capacity = Capacity(**{CAPACITIES[resource]: float(mean * draw.uniform(0.6, 1.2))})
        brokers[number] = replace(brokers[number], capacity=capacity)
    return replace(plain, brokers=tuple(brokers))


def lifted_above_known(plan: Plan, snapshot: ClusterSnapshot) -> list[str]:
    before, after = plan.document["before"], plan.document["after"]
    return [
        f"{resource} of broker {broker.id}: {after[resource][str(broker.id)]:g}, it can carry {known:g}"
        for broker in snapshot.brokers
        for resource, name in CAPACITIES.items()
        if (known := getattr(broker.capacity, name)) is not None
        and after[resource][str(broker.id)] > max(known, before[resource][str(broker.id)]) * (1 + 1e-6)
    ]


@for_each("seed", range(ALL), fast=range(12), rest_mark=pytest.mark.matrix, rest_items=4)
def test_what_a_broker_can_carry_holds_where_the_others_are_unknown(seed: int) -> None:
    """Also on the day after, when a tenth more is held: the earlier plan would overfill a broker."""
    snapshot = known_in_part(seed)
    plan = planned(snapshot)
    assert lifted_above_known(plan, snapshot) == []
    grown = with_sizes(snapshot, 1.1)
    again = make_plan(grown, PlanOptions(within=0.1, with_frontier=False), previous=to_document(plan))
    assert [str(fault) for fault in verify_plan(again.document, grown).wrong] == []
    assert lifted_above_known(again, grown) == []


def with_sizes(snapshot: ClusterSnapshot, factor: float) -> ClusterSnapshot:
    rows = [
        replace(row, log_bytes=tuple(round((size or 0) * factor) for size in row.log_bytes))
        for row in snapshot.each_partition()
    ]
    return replace(snapshot, partitions=partition_table(rows, {"t": 0}))


def test_the_verifier_refuses_a_plan_above_the_one_capacity_that_is_known() -> None:
    snapshot = loaded(1)
    plain = replace(snapshot, brokers=tuple(replace(b, capacity=Capacity()) for b in snapshot.brokers))
    document = to_document(planned(plain))
    risen = next(b for b in plain.brokers if document["after"]["out"][str(b.id)] > document["before"]["out"][str(b.id)])
    most = Capacity(out_bytes_per_s=document["after"]["out"][str(risen.id)] * 0.99)
    narrow = replace(plain, brokers=tuple(replace(b, capacity=most) if b is risen else b for b in plain.brokers))
    forged = as_if_made_from(narrow, document)
    assert "capacity" in {fault.code for fault in verify_plan(forged, narrow).wrong}


def even_and_known_in_part(
    seed: int, others: tuple[float, float] | None = None
) -> tuple[ClusterSnapshot, list[tuple[int, str, float]]]:
    """Brokers at their share, and the capacities of one or two that can carry little more than they do; ``others``: of
    all, the others' in multiples of the highest load.
    """
    draw, snapshot = np.random.default_rng(seed), loaded(seed)
    count, rows = int(draw.integers(5, 7)), []
    for p in range(20 * count):
        first, size = p % count, int(draw.uniform(0.8, 1.2) * 1e9)
        replicas = (first, (first + 1 + p // count % (count - 1)) % count)
        rows.append(Partition("t", p, replicas, first, log_bytes=(size, size)))
    kinds = (LoadKind.IN_BYTES_PER_S, LoadKind.OUT_BYTES_PER_S, LoadKind.CPU_PERCENT)
    rates = {kind: LoadColumn(draw.uniform(0.8, 1.2, len(rows)), LoadSource.PROMETHEUS) for kind in kinds}
    brokers = [Broker(b, rack=f"r{b}") for b in range(count)]
    table, loads = partition_table(rows, {"t": 0}), PartitionLoads(rates)
    even = replace(snapshot, brokers=tuple(brokers), partitions=table, loads=loads)
    before, full = make_plan(even, PlanOptions(with_frontier=False)).document["before"], []
    for broker in range(count if others else 0):
        most = {name: max(before[resource].values()) for resource, name in CAPACITIES.items()}
        capacity = Capacity(**{name: float(load * draw.uniform(*others)) for name, load in most.items()})
        brokers[broker] = replace(brokers[broker], capacity=capacity)
    for broker in draw.permutation(count)[: int(draw.integers(1, 3))].tolist():
        resource = str(draw.choice(sorted(CAPACITIES)))
        capacity = before[resource][str(broker)] / draw.uniform(0.87, 1.05)
        known = replace(brokers[broker].capacity, **{CAPACITIES[resource]: float(capacity)})
        brokers[broker] = replace(brokers[broker], capacity=known)
        full.append((broker, resource, float(capacity)))
    return replace(even, brokers=tuple(brokers)), full


@for_each("seed", range(ALL), fast=range(12), rest_mark=pytest.mark.matrix, rest_items=4)
def test_a_broker_that_is_known_to_be_nearly_full_is_relieved_where_the_others_are_unknown(seed: int) -> None:
    """Others end inside their band: nothing is known of how much they can carry."""
    snapshot, full = even_and_known_in_part(seed)
    plan = make_plan(snapshot, PlanOptions(with_frontier=False))
    assert [str(fault) for fault in verify_plan(plan.document, snapshot).wrong] == []
    assert plan.verdict is Verdict.REBALANCE
    assert StepKind.RELIEVE in {step.kind for step in plan.steps}
    stated = {reason.args["resource"] for reason in plan.reasons if reason.code is FactCode.BROKERS_NEARLY_FULL}
    assert stated == {resource for _, resource, _ in full}
    widened = {outcome.resource for outcome in plan.resources if outcome.widened_to[1] is not None}
    for broker, resource, capacity in full:
        before, after = (plan.document[time][resource][str(broker)] for time in ("before", "after"))
        assert after < before
        assert after <= 0.85 * capacity or resource in widened
        mean = sum(plan.document["before"][resource].values()) / len(snapshot.brokers)
        assert max(plan.document["after"][resource].values()) <= 1.1 * mean * (1 + 1e-6)


def highest_above_relief(plan: Plan, snapshot: ClusterSnapshot, allowed: Mapping[str, Mapping[str, float]]) -> float:
    """Largest load after ``plan`` as a multiple of where relief ends, of today's, or of the ``allowed``."""
    document, highest = plan.document, 0.0
    for reason in document["reasons"]:
        if reason["code"] == FactCode.BROKERS_NEARLY_FULL and reason["args"]["relieved_to"] is not None:
            resource, share = reason["args"]["resource"], reason["args"]["relieved_to"]
            before, after = document["before"][resource], document["after"][resource]
            for broker in snapshot.brokers:
                capacity, at = getattr(broker.capacity, CAPACITIES[resource]), str(broker.id)
                end = 1.1 * sum(before.values()) / len(before) if capacity is None else share * capacity
                highest = max(highest, after[at] / max(end, before[at], allowed[resource][at]))
    return highest


def relieving(seed: int) -> tuple[ClusterSnapshot, PlanOptions]:
    """Some capacities are known, or all, and the dead band is wide or narrow."""
    others = (1.2, 1.6) if seed % 4 else None
    dead_band = float(np.random.default_rng((seed, 1)).choice([0.2, 0.3, 0.6, 1.0]))
    return even_and_known_in_part(seed, others)[0], PlanOptions(with_frontier=False, dead_band=dead_band)


@for_each("seed", range(ALL), fast=range(12), rest_mark=pytest.mark.matrix, rest_items=4)
def test_a_relief_lifts_no_broker_above_where_relief_ends_and_a_plan_stops_only_there(seed: int) -> None:
    """The half of a swap that takes load off a full broker comes with the other half, where it would lift one."""
    snapshot, options = relieving(seed)
    plan, cut = (make_plan(snapshot, replace(options, at=at)) for at in (None, StepKind.RELIEVE.value))
    for each in (plan, cut):
        assert [str(fault) for fault in verify_plan(each.document, snapshot).wrong] == []
    stops = [{reason.code for reason in each.reasons} & {FactCode.STOPS_AT_STEP} for each in (plan, cut)]
    assert highest_above_relief(cut, snapshot, plan.document["before" if stops[0] else "after"]) <= 1 + 1e-6
    if not stops[1]:
        return
    forged = copy.deepcopy(dict(cut.document))
    forged["parameters"]["at"] = None
    next(reason["args"] for reason in forged["reasons"] if reason["code"] == "stops_at_step")["is_asked"] = False
    faults = {fault.code for fault in verify_plan(forged, snapshot).wrong} - {"hash"}
    assert faults == (set() if stops[0] else {"verdict"})


@pytest.mark.parametrize(("seed", "code"), [(4, "step"), (7, "verdict")])
def test_the_verifier_refuses_a_relief_that_holds_half_of_a_swap(
    seed: int, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(steps, "_relieved_most", lambda _, problem: np.full(problem.band_high.shape, np.inf))
    snapshot, options = relieving(seed)
    plan = make_plan(snapshot, options)
    assert code in {fault.code for fault in verify_plan(plan.document, snapshot).wrong}
