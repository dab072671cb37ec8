from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from kafka_rebalance.facts import FactCode
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.budget import keeps_hours, search, seconds_of
from kafka_rebalance.plans.draft import draft_of
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import Plan, Verdict, to_document
from kafka_rebalance.plans.request import build_request
from kafka_rebalance.snapshot.model import Broker, ClusterSnapshot, Partition, Topic, partition_table
from kafka_rebalance.verify import verify_plan
from tests.sample import for_each
from tests.unit.plans.hand_plans import SNAPSHOT, hand

GB = 10**9
FAST, ALL = 4, 60


def uneven(seed: int) -> ClusterSnapshot:
    """Five to eight brokers in three racks; the first hold most."""
    rng = np.random.default_rng(seed)
    count, rows = int(rng.integers(5, 9)), []
    odds = np.arange(count, 0, -1.0) ** rng.uniform(1, 3)
    for p in range(int(rng.integers(40, 90))):
        first, second = rng.choice(count, size=2, replace=False, p=odds / odds.sum()).tolist()
        size = int(rng.lognormal(0, 1) * GB)
        rows.append(Partition("t", p, (first, second), first, log_bytes=(size, size)))
    brokers = tuple(Broker(b, rack=f"r{b % 3}") for b in range(count))
    return ClusterSnapshot("c", brokers, (Topic("t"),), partition_table(rows, {"t": 0}))


def planned(snapshot: ClusterSnapshot, options: PlanOptions) -> Plan:
    plan = make_plan(snapshot, options)
    document = json.loads(json.dumps(to_document(plan)))
    assert [str(fault) for fault in verify_plan(document, snapshot).wrong] == []
    return plan


def test_the_seconds_of_a_draft_are_those_of_its_waves() -> None:
    made = hand()
    assert seconds_of(made.plan_request, made.draft) == pytest.approx(4e9 / (50 * 2**20))
    for hours, fits in ((0.03, True), (0.02, False)):
        request = build_request(SNAPSHOT, PlanOptions(within=0.2, max_hours=hours))
        draft = draft_of(request, *_placing(made))
        assert keeps_hours(request, draft) is fits


def _placing(made):
    solution = search(made.problem)
    return solution.replicas, solution.leader


def test_a_plan_that_fits_is_the_one_that_is_asked_for() -> None:
    snapshot = uneven(0)
    free = planned(snapshot, PlanOptions(within=0.1, with_frontier=False))
    roomy = planned(snapshot, PlanOptions(within=0.1, with_frontier=False, max_hours=1000.0))
    assert [move.to_replicas for move in roomy.moves] == [move.to_replicas for move in free.moves]


def test_what_must_move_and_takes_longer_is_refused_with_its_time() -> None:
    plan = planned(uneven(1), PlanOptions(remove_brokers=frozenset({0}), with_frontier=False, max_hours=0.001))
    assert plan.verdict is Verdict.INFEASIBLE
    assert plan.reasons[0].code is FactCode.HOURS_TOO_FEW


def test_hours_cannot_be_kept_where_sizes_are_unknown() -> None:
    snapshot = uneven(2)
    rows = [replace(row, log_bytes=()) for row in snapshot.each_partition()]
    unknown = replace(snapshot, partitions=partition_table(rows, {"t": 0}))
    plan = planned(unknown, PlanOptions(within=0.1, with_frontier=False, max_hours=1.0))
    assert plan.verdict is Verdict.INFEASIBLE
    assert (plan.reasons[0].code, plan.reasons[0].args["option"]) == (FactCode.SIZES_UNKNOWN, "--max-hours")


@for_each("seed", range(ALL), fast=range(FAST), rest_mark=pytest.mark.matrix)
def test_hours_are_kept_and_more_of_them_buy_no_less_balance(seed: int) -> None:
    """Four fifths of the time leave a cluster no more uneven than a fifth, by a hundredth at most."""
    snapshot, options = uneven(seed), PlanOptions(within=0.05, with_frontier=False)
    whole_s, left = planned(snapshot, options).cost.seconds or 0.0, []
    if whole_s == 0:
        return
    for share in (0.2, 0.5, 0.8):
        plan = planned(snapshot, replace(options, max_hours=share * whole_s / 3600))
        assert (plan.cost.seconds or 0.0) <= share * whole_s * (1 + 1e-9)
        left.append(max(outcome.skew_after for outcome in plan.resources))
    assert left[2] <= 1.01 * left[0]


def test_hours_that_one_move_fills_are_not_called_too_few() -> None:
    """Ninety replicas of 1 to 2 GiB, time for the smallest: halving bytes ended at no move, which verify refuses."""
    rng, rows = np.random.default_rng(3), []
    for p in range(90):
        first = int(rng.choice(6, p=[0.35, 0.3, 0.1, 0.1, 0.1, 0.05]))
        second = int((first + 1 + rng.integers(5)) % 6)
        size = int(rng.integers(2**30, 2**31))
        rows.append(Partition("t", p, (first, second), first, log_bytes=(size, size)))
    snapshot = ClusterSnapshot("c", tuple(map(Broker, range(6))), (Topic("t"),), partition_table(rows, {"t": 0}))
    options = PlanOptions(within=0.1, with_frontier=False, max_leader_changes=0)
    least = min(row.log_bytes[0] or 0 for row in rows) / options.throttle_bytes_per_s
    for times in (1.01, 1.2):
        plan = planned(snapshot, replace(options, max_hours=times * least / 3600))
        assert 0 < (plan.cost.seconds or 0.0) <= times * least
        assert plan.cost.replica_moves >= 1
