from __future__ import annotations

from dataclasses import replace

import pytest

from kafka_rebalance.errors import UsageError
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import Plan, ResourceOutcome, Verdict, to_document
from kafka_rebalance.resources import ON_REQUEST
from kafka_rebalance.snapshot.model import Capacity, ClusterSnapshot
from kafka_rebalance.verify.verification import verify_plan
from tests.unit.planner.sample_clusters import random_cluster

QUICK = PlanOptions(within=0.2, with_frontier=False)


def right(snapshot: ClusterSnapshot, options: PlanOptions) -> Plan:
    plan = make_plan(snapshot, options)
    assert [str(fault) for fault in verify_plan(to_document(plan), snapshot).wrong] == []
    return plan


def outcome_of(plan: Plan, resource: str) -> ResourceOutcome:
    return next(outcome for outcome in plan.resources if outcome.resource == resource)


def test_a_plan_tells_of_them_only_where_they_were_named() -> None:
    snapshot = random_cluster(3, broker_count=6, topics=6)
    assert not {outcome.resource for outcome in right(snapshot, QUICK).resources} & set(ON_REQUEST)
    for name in ON_REQUEST:
        reported = outcome_of(right(snapshot, replace(QUICK, also_balance=frozenset({name}))), name)
        assert (reported.basis, reported.band_asked) == ("fair_share", (0.8, 1.2))


def test_what_is_produced_to_leaders_comes_into_the_band() -> None:
    """Within it on random clusters if all bands can be met; without the option it stays outside."""
    inside = outside = 0
    for seed in range(6):
        snapshot = random_cluster(seed, broker_count=6, topics=20)
        narrow = replace(QUICK, within=0.1)
        plan = right(snapshot, replace(narrow, also_balance=frozenset({"leader_in"})))
        assert plan.verdict is Verdict.REBALANCE
        inside += outcome_of(plan, "leader_in").widened_to == (None, None)
        bare = outcome_of(right(snapshot, replace(narrow, caps={"leader_in": 1e15})), "leader_in")
        outside += max(bare.after.values()) > 1.1 * bare.mean_level or min(bare.after.values()) < 0.9 * bare.mean_level
    assert inside >= 4
    assert outside >= 1


def test_nobody_could_be_asked_for_more_than_its_network_carries() -> None:
    """If a broker led all its replicas: with 5 % left free, brokers of two sizes."""
    for seed in range(4):
        snapshot = random_cluster(seed, broker_count=6, topics=12)
        sent = outcome_of(right(snapshot, replace(QUICK, caps={"potential_out": 1e15})), "potential_out")
        even = sum(sent.after.values()) / 9
        sizes = {broker: Capacity(out_bytes_per_s=(1.3 + 1.3 * (broker % 2)) * even) for broker in range(6)}
        options = replace(QUICK, headroom={"potential_out": 0.05}, capacities=sizes)
        reported = outcome_of(right(snapshot, options), "potential_out")
        assert reported.band_asked == (None, None)
        assert len(reported.after) == 6
        for broker, load in reported.after.items():
            assert load <= 0.95 * (sizes[broker].out_bytes_per_s or 0) * (1 + 1e-9)


def test_too_little_for_what_could_be_asked_is_counted() -> None:
    snapshot = random_cluster(1, broker_count=6, topics=12)
    sizes = dict.fromkeys(range(6), Capacity(out_bytes_per_s=1.0))
    plan = right(snapshot, replace(QUICK, headroom={"potential_out": 0.0}, capacities=sizes))
    assert plan.verdict is Verdict.INFEASIBLE
    assert plan.moves == ()


def test_what_cannot_be_is_refused() -> None:
    snapshot = random_cluster(1, broker_count=6, topics=2)
    with pytest.raises(UsageError, match="--headroom potential_out: not every broker's capacity is known"):
        make_plan(snapshot, replace(QUICK, headroom={"potential_out": 0.0}))
    with pytest.raises(UsageError, match="--also-balance: 'disk' is no such resource; known: leader_in, potential_out"):
        PlanOptions(also_balance=frozenset({"disk"}))
    bare = random_cluster(1, broker_count=6, topics=2, with_rates=False)
    with pytest.raises(UsageError, match="--also-balance leader_in: INPUT does not tell it"):
        make_plan(bare, replace(QUICK, also_balance=frozenset({"leader_in"})))
    with pytest.raises(UsageError, match="--leaders-only and --also-balance contradict each other"):
        replace(QUICK, leaders_only=True, also_balance=frozenset({"potential_out"}))
    assert right(snapshot, replace(QUICK, leaders_only=True, also_balance=frozenset({"leader_in"}))).cost.bytes == 0


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"also_balance": []}, "resource"),
        ({"also_balance": ["leader_in", "potential_out"]}, "resource"),
        ({"also_balance": ["potential_out", "leader_in"]}, "parameter"),
        ({"also_balance": ["disk"]}, "parameter"),
        ({"also_balance": ["leader_in", "leader_in"]}, "parameter"),
        ({"also_balance": "leader_in"}, "parameter"),
        ({"balance_within": 0.1}, "band"),
    ],
)
def test_a_false_statement_of_it_is_found(changed: dict[str, object], code: str) -> None:
    snapshot = random_cluster(3, broker_count=6, topics=6)
    document = to_document(make_plan(snapshot, replace(QUICK, also_balance=frozenset({"leader_in"}))))
    document["parameters"] |= changed
    assert code in verify_plan(document, snapshot).counts
