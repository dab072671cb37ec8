from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kafka_rebalance.errors import UsageError
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.options.values import Target
from kafka_rebalance.plans.check import check_plan
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import Plan, Verdict, to_document
from kafka_rebalance.plans.request import build_request
from kafka_rebalance.resources import BALANCED, RESOURCES, ROWS
from kafka_rebalance.scoring.snapshot_scores import score_cluster
from kafka_rebalance.snapshot.figures import LoadKind
from kafka_rebalance.snapshot.model import ClusterSnapshot
from kafka_rebalance.verify import verify_plan
from tests.properties.small_clusters import small_cluster
from tests.sample import for_each
from tests.unit.planner.sample_clusters import brokers, cluster, random_cluster, row

QUICK: dict[str, Any] = {"with_frontier": False, "expires_after_hours": 1}
# Written at 10 and read at 1 each: a leader sends 1 + 10 to its one follower.
RATES = {LoadKind.IN_BYTES_PER_S: [10.0] * 6, LoadKind.OUT_BYTES_PER_S: [1.0] * 6}


def lopsided() -> ClusterSnapshot:
    """Six partitions of two replicas on brokers 0 and 1, all led by 0; brokers 2 and 3 are empty."""
    return cluster([row("t", number, (0, 1)) for number in range(6)], brokers(4), rates=RATES)


def right(snapshot: ClusterSnapshot, options: PlanOptions) -> Plan:
    """The plan, which the verifier finds right."""
    plan = make_plan(snapshot, options)
    assert [str(fault) for fault in verify_plan(to_document(plan), snapshot).wrong] == []
    return plan


def loads_after(plan: Plan, resource: str) -> list[float]:
    return [load for outcome in plan.resources if outcome.resource == resource for load in outcome.after.values()]


def test_loads_of_the_two_worked_out_by_hand() -> None:
    scores = score_cluster(lopsided())
    held = {name: {score.broker: score.load for score in scores.of_resource(name)} for name in RESOURCES}
    assert held["leader_in"] == {0: 60, 1: 0, 2: 0, 3: 0}
    assert held["potential_out"] == {0: 66, 1: 66, 2: 0, 3: 0}
    assert held["out"] == {0: 66, 1: 0, 2: 0, 3: 0}
    skews = {score.resource: score.skew for score in scores.resources}
    assert (skews["leader_in"], skews["potential_out"]) == (4.0, 2.0)


def test_what_nobody_asked_for_is_no_part_of_a_plan() -> None:
    snapshot = lopsided()
    plan = right(snapshot, PlanOptions(**QUICK))
    asked = build_request(snapshot, PlanOptions())
    assert set(asked.problem(0.1).resources) <= BALANCED
    assert {outcome.resource for outcome in plan.resources} | set(plan.left_out) == BALANCED
    assert to_document(plan)["parameters"]["caps"] == {}


@pytest.mark.parametrize("resource", ["potential_out", "replicas", "in"])
def test_a_cap_of_what_replicas_carry_moves_replicas(resource: str) -> None:
    snapshot, cap = lopsided(), {"potential_out": 44.0, "replicas": 4, "in": 40.0}[resource]
    plan = right(snapshot, PlanOptions(within=0.99, caps={resource: cap}, **QUICK))
    assert plan.verdict is Verdict.REBALANCE
    assert max(loads_after(plan, resource)) <= cap
    assert plan.cost.replica_moves >= 4


@pytest.mark.parametrize("resource", ["leader_in", "leaders", "out"])
def test_a_cap_of_what_leaders_carry_is_kept_without_copies(resource: str) -> None:
    snapshot, cap = lopsided(), {"leader_in": 30.0, "leaders": 3, "out": 33.0}[resource]
    plan = right(snapshot, PlanOptions(leaders_only=True, caps={resource: cap}, **QUICK))
    assert (plan.verdict, plan.cost.replica_moves, plan.cost.leader_changes) == (Verdict.REBALANCE, 0, 3)
    assert sorted(loads_after(plan, resource)) == [0, 0, cap, cap]


def test_a_target_aims_at_the_new_resources_like_at_any_other() -> None:
    plan = right(lopsided(), PlanOptions(targets={"leader_in": Target(None, 1.4)}, **QUICK))
    (resource,) = (outcome for outcome in plan.resources if outcome.resource == "leader_in")
    assert (resource.basis, resource.band_asked, resource.unit, resource.source) == (
        "plain_mean",
        (None, 1.4),
        "bytes/s",
        "given",
    )
    assert max(resource.after.values()) <= 1.4 * 15


def test_more_than_all_caps_together_is_infeasible_and_said() -> None:
    plan = right(lopsided(), PlanOptions(caps={"potential_out": 30.0}, **QUICK))
    assert (plan.verdict, plan.moves) == (Verdict.INFEASIBLE, ())
    args = plan.reasons[0].args
    assert (args["brokers"], args["resource"], args["limit"]) == (4, "potential_out", 120.0)
    assert plan.reasons[1] == fact(FactCode.RAISE_LIMIT, resource="potential_out", limit=args["needed"] / 4)


def test_a_cap_below_one_partition_is_infeasible() -> None:
    first = cluster([row("t", 0, (0,))], brokers(2), rates={kind: [10.0] for kind in RATES})
    plan = right(first, PlanOptions(caps={"in": 9.0}, **QUICK))
    assert plan.verdict is Verdict.INFEASIBLE
    assert plan.reasons[:2] == (
        fact(FactCode.PARTITION_ABOVE_LIMIT, partition="t-0", resource="in", load=10.0, limit=9.0),
        fact(FactCode.RAISE_LIMIT, resource="in", limit=10.0, or_smaller_partitions=True),
    )


def test_a_budget_that_leaves_no_way_under_the_cap_is_infeasible() -> None:
    plan = right(lopsided(), PlanOptions(caps={"replicas": 4}, max_moves=1, **QUICK))
    assert (plan.verdict, plan.moves) == (Verdict.INFEASIBLE, ())


@pytest.mark.parametrize("resource", ["leader_in", "potential_out", "cpu"])
def test_a_cap_of_what_nobody_measured_is_refused(resource: str) -> None:
    unmeasured = cluster([row("t", 0, (0, 1))], brokers(2))
    with pytest.raises(UsageError, match=f"--cap {resource}: INPUT does not tell it"):
        make_plan(unmeasured, PlanOptions(caps={resource: 5.0}))


def test_a_plan_is_kept_for_the_same_caps_and_made_anew_for_others() -> None:
    snapshot, options = lopsided(), PlanOptions(caps={"replicas": 5}, **QUICK)
    first = to_document(right(snapshot, options))
    assert make_plan(snapshot, options, previous=first).continues == first["plan_id"]
    other = make_plan(snapshot, PlanOptions(caps={"replicas": 4}, **QUICK), previous=first)
    assert other.continues is None


def test_check_tells_that_what_is_left_would_break_the_cap() -> None:
    plan = right(lopsided(), PlanOptions(within=0.99, caps={"replicas": 4}, **QUICK))
    receiver = next(broker for move in plan.moves for broker in move.to_replicas if broker > 1)
    grown = [row("t", number, (0, 1)) for number in range(6)] + [row("u", n, (receiver,)) for n in range(4)]
    later = cluster(grown, brokers(4), rates={kind: [values[0]] * 10 for kind, values in RATES.items()})
    because = [said for reason in check_plan(to_document(plan), later).because for said in reason.facts]
    over = fact(FactCode.BROKER_WOULD_OVERFLOW, resource="replicas", broker=receiver, is_cap=True)
    assert over in because, because


@for_each("seed", range(24), whole_step=4)
def test_random_caps_are_kept_or_infeasible(seed: int) -> None:
    draw = np.random.default_rng(seed)
    snapshot = random_cluster(seed, broker_count=6, racks=3, topics=4, with_rates=True)
    scores = score_cluster(snapshot)
    caps: dict[str, float] = {}
    for name in draw.choice([resource.resource for resource in scores.resources], 2, replace=False).tolist():
        loads = [score.load for score in scores.of_resource(name)]
        cap = float(np.mean(loads) + draw.uniform(-0.1, 1.0) * (np.max(loads) - np.mean(loads)))
        caps[name] = max(round(cap), 1) if ROWS[name].is_counted else cap
    targets = {"leader_in": Target(None, float(draw.uniform(1.1, 1.5)))} if draw.random() < 0.3 else {}
    within = float(draw.choice([0.05, 0.2, 0.6]))
    plan = right(snapshot, PlanOptions(within=within, caps=caps, targets=targets, **QUICK))
    if plan.verdict is Verdict.REBALANCE:
        assert all(load <= cap * (1 + 1e-9) for name, cap in caps.items() for load in loads_after(plan, name))
    else:
        assert plan.moves == ()
        assert plan.verdict in (Verdict.INFEASIBLE, Verdict.NOTHING_TO_DO, Verdict.NOT_FIXABLE_BY_MOVING)


def test_what_found_no_place_at_first_and_one_later_is_no_failure() -> None:
    """So narrow that the search first finds no broker for what it took away, and then one: this crashed."""
    snapshot, options = small_cluster(493)
    plan = right(snapshot, replace(options, caps={"replicas": 5, "leaders": 2}))
    assert plan.verdict is Verdict.REBALANCE
