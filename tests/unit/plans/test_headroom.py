from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kafka_rebalance.errors import UsageError
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.check import check_plan
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import Plan, Verdict, to_document
from kafka_rebalance.snapshot.model import Capacity, ClusterSnapshot
from kafka_rebalance.verify import verify_plan
from tests.properties.small_clusters import small_cluster
from tests.sample import for_each
from tests.unit.planner.sample_clusters import GB, brokers, cluster, row

QUICK: dict[str, Any] = {"with_frontier": False, "expires_after_hours": 1}


def right(snapshot: ClusterSnapshot, options: PlanOptions) -> Plan:
    """The plan, which the verifier finds right."""
    plan = make_plan(snapshot, options)
    assert [str(fault) for fault in verify_plan(to_document(plan), snapshot).wrong] == []
    return plan


def with_disks(snapshot: ClusterSnapshot, sizes: dict[int, float]) -> ClusterSnapshot:
    """Brokers whose disks are that large, in bytes."""
    known = (replace(broker, capacity=Capacity(disk_bytes=sizes[broker.id])) for broker in snapshot.brokers)
    return replace(snapshot, brokers=tuple(known))


def two_disks() -> ClusterSnapshot:
    """Six partitions of 10 GB on broker 0, whose disk is of 100 GB; broker 1 has one of 50 GB."""
    first = cluster([row("t", number, (0,), 10 * GB) for number in range(6)], brokers(2))
    return with_disks(first, {0: 100.0 * GB, 1: 50.0 * GB})


def after(plan: Plan) -> dict[int, float]:
    """Bytes on each broker's disk."""
    return next(dict(outcome.after) for outcome in plan.resources if outcome.resource == "disk")


def test_each_broker_keeps_its_share_of_its_own_disk_free() -> None:
    # Half of each disk: 50 and 25 GB. One replica must leave broker 0, and broker 1 has room for two of them.
    plan = right(two_disks(), PlanOptions(within=0.99, headroom={"disk": 0.5}, **QUICK))
    assert plan.verdict is Verdict.REBALANCE
    assert after(plan)[0] <= 50 * GB
    assert after(plan)[1] <= 25 * GB
    assert to_document(plan)["parameters"]["headroom"] == {"disk": 0.5}


def test_too_much_headroom_says_what_is_lacking_and_how_much_there_can_be() -> None:
    # 70 % of 150 GB free leaves 45 GB for 60: 15 GB are lacking, and 60 of 150 leaves 60 % free at most.
    plan = right(two_disks(), PlanOptions(headroom={"disk": 0.7}, **QUICK))
    assert (plan.verdict, plan.moves) == (Verdict.INFEASIBLE, ())
    args = plan.reasons[0].args
    assert (args["headroom"], args["brokers"]) == (0.7, 2)
    assert (args["limit"], args["needed"]) == (pytest.approx(45 * GB), 60 * GB)
    assert plan.reasons[1] == fact(FactCode.LOWER_HEADROOM, headroom=pytest.approx(0.6))


def test_headroom_of_what_nobody_knows_is_refused() -> None:
    unknown = cluster([row("t", 0, (0,), GB)], brokers(2))
    with pytest.raises(UsageError, match="--headroom disk: not every broker's capacity is known"):
        make_plan(unknown, PlanOptions(headroom={"disk": 0.2}))
    with pytest.raises(UsageError, match="--headroom cpu: INPUT does not tell it"):
        make_plan(unknown, PlanOptions(headroom={"cpu": 0.2}))
    for wrong, text in (({"leaders": 0.2}, "has no capacity"), ({"disk": 1.0}, "is no share"), ([], "is no object")):
        with pytest.raises(UsageError, match=text):
            PlanOptions(headroom=wrong)  # type: ignore[arg-type]


@for_each("seed", range(40), whole_step=4)
def test_random_headroom_is_kept_or_infeasible(seed: int) -> None:
    draw = np.random.default_rng(seed)
    snapshot, _ = small_cluster(seed)
    held = dict.fromkeys((broker.id for broker in snapshot.brokers), 0.0)
    for partition in snapshot.each_partition():
        for broker, size in zip(partition.replicas, partition.log_bytes, strict=True):
            held[broker] += max(size or 0, 0)
    mean = max(sum(held.values()) / len(held), 1.0)
    disks = {broker: 4 * mean * float(draw.uniform(0.5, 1.5)) for broker in held}
    options = PlanOptions(within=0.3, headroom={"disk": float(draw.uniform(0.3, 0.8))}, **QUICK)
    snapshot = with_disks(snapshot, disks)
    plan = right(snapshot, options)
    if plan.verdict is Verdict.REBALANCE:
        left = 1 - options.headroom["disk"]
        staying = {broker.id for broker in snapshot.brokers if broker.state.stays}
        assert all(load <= left * disks[b] * (1 + 1e-9) for b, load in after(plan).items() if b in staying)
    else:
        assert plan.moves == ()


def rack_of(snapshot: ClusterSnapshot) -> dict[int, str | None]:
    return {broker.id: broker.rack for broker in snapshot.brokers}


@for_each("seed", range(40), whole_step=4)
def test_a_rack_leaves_as_if_each_of_its_brokers_was_named(seed: int) -> None:
    snapshot, _ = small_cluster(seed)
    racks = sorted({rack for rack in rack_of(snapshot).values() if rack is not None})
    if not racks:
        with pytest.raises(UsageError, match="no broker tells its rack"):
            make_plan(snapshot, PlanOptions(remove_racks=frozenset({"rack-0"})))
        return
    rack = racks[seed % len(racks)]
    named = frozenset(broker for broker, own in rack_of(snapshot).items() if own == rack)
    plan = right(snapshot, PlanOptions(remove_racks=frozenset({rack}), **QUICK))
    same = make_plan(snapshot, PlanOptions(remove_brokers=named, **QUICK))
    assert (plan.verdict, plan.moves, plan.reasons) == (same.verdict, same.moves, same.reasons)
    assert not {broker for move in plan.moves for broker in move.to_replicas} & named


def test_a_rack_that_is_not_there_or_is_filled_is_refused() -> None:
    snapshot = cluster([row("t", 0, (0, 1), GB)], brokers(4, racks=2))
    with pytest.raises(UsageError, match=r"--remove-rack cellar: rack 'cellar' is not in .*its racks: rack-0, rack-1"):
        make_plan(snapshot, PlanOptions(remove_racks=frozenset({"cellar"})))
    with pytest.raises(UsageError, match="--add-broker 3: stands on rack rack-1, which is to be removed"):
        make_plan(snapshot, PlanOptions(remove_racks=frozenset({"rack-1"}), add_brokers={3: None}))
    for wrong in ({"a"}, frozenset({""}), frozenset({3})):
        with pytest.raises(UsageError, match="--remove-rack"):
            PlanOptions(remove_racks=wrong)  # type: ignore[arg-type]


def test_what_is_left_cannot_hold_the_rack() -> None:
    # Four replicas of each partition and two brokers that stay.
    snapshot = cluster([row("t", 0, (0, 1, 2, 3), GB)], brokers(4, racks=2))
    plan = right(snapshot, PlanOptions(remove_racks=frozenset({"rack-1"}), **QUICK))
    assert plan.verdict is Verdict.INFEASIBLE
    full = with_disks(
        cluster([row("t", n, (n % 2,), 60 * GB) for n in range(2)], brokers(2, racks=2)), {0: 1e11, 1: 1e11}
    )
    plan = right(full, PlanOptions(remove_racks=frozenset({"rack-1"}), **QUICK))
    assert plan.verdict is Verdict.INFEASIBLE


def test_a_rack_that_left_since_is_no_news_to_check() -> None:
    snapshot = cluster([row("t", n, (n % 4,), GB) for n in range(8)], brokers(4, racks=2))
    plan = right(snapshot, PlanOptions(remove_racks=frozenset({"rack-1"}), **QUICK))
    assert plan.verdict is Verdict.REBALANCE
    later = {(move.topic, move.partition): move.to_replicas for move in plan.moves}
    rows = [
        row(p.topic, p.partition, later.get((p.topic, p.partition), p.replicas), GB) for p in snapshot.each_partition()
    ]
    done = cluster(rows, [broker for broker in brokers(4, racks=2) if broker.rack == "rack-0"])
    result = check_plan(to_document(plan), done)
    assert result.left == 0
    assert not any("broker" in fact.args for reason in result.because for fact in reason.facts)
