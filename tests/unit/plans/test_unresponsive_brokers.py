from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kafka_rebalance.errors import UsageError
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.check import PlanStatus, ReasonCode, check_plan, reason
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import Plan, Verdict, to_document
from kafka_rebalance.snapshot.codec import snapshot_from_document, snapshot_to_document
from kafka_rebalance.snapshot.coverage import Right, right_gap
from kafka_rebalance.snapshot.model import BrokerState, ClusterSnapshot, LogDir
from kafka_rebalance.verify import verify_plan
from tests.coverage_gaps import gap_of
from tests.unit.planner.sample_clusters import GB, brokers, cluster, row

UNHEARD = tuple(state for state in BrokerState if state.is_unresponsive)


def uneven(state: BrokerState, seed: int = 0) -> ClusterSnapshot:
    """Six brokers of three racks; broker 5 is nearly empty, the best receiver."""
    draw = np.random.default_rng(seed)
    rows = [
        row("t", p, draw.choice(5 if p else 6, 2, replace=False).tolist(), int(draw.integers(1, 9)) * GB)
        for p in range(40)
    ]
    return cluster(rows, brokers(6, 3, b5=state))


def planned(snapshot: ClusterSnapshot, options: PlanOptions) -> Plan:
    plan = make_plan(snapshot, replace(options, with_frontier=False))
    assert [str(fault) for fault in verify_plan(to_document(plan), snapshot).wrong] == []
    return plan


def given_to(plan: Plan, broker: int) -> int:
    """Moves that bring a replica or the lead to ``broker``."""
    return sum(
        (broker in move.to_replicas and broker not in move.from_replicas)
        or (move.leader_to == broker and move.leader_from != broker)
        for move in plan.moves
    )


def test_what_a_state_means() -> None:
    """The four unresponsive ones stay, the two gone ones do not; no state is both."""
    assert {state.value for state in UNHEARD} == {"refused", "silent", "disconnected", "unresponsive"}
    assert [state for state in BrokerState if state.is_gone] == [BrokerState.FENCED, BrokerState.DEAD]
    assert [state for state in BrokerState if not state.stays] == [
        BrokerState.DRAINING, BrokerState.FENCED, BrokerState.DEAD,
    ]  # fmt: skip
    assert all(state.is_responsive == (not state.is_gone and not state.is_unresponsive) for state in BrokerState)
    read_again = snapshot_from_document(snapshot_to_document(uneven(BrokerState.REFUSED)))
    assert read_again.brokers[5].state is BrokerState.REFUSED


@pytest.mark.parametrize("state", UNHEARD)
def test_nothing_goes_to_a_broker_that_was_not_heard(state: BrokerState) -> None:
    """A serving broker 5 gets much; an unresponsive one nothing, even if it is demoted."""
    assert given_to(planned(uneven(BrokerState.ALIVE), PlanOptions()), 5) > 5
    plan = planned(uneven(state), PlanOptions())
    assert plan.verdict is Verdict.REBALANCE
    assert given_to(plan, 5) == 0
    assert fact(FactCode.BROKER_UNRESPONSIVE, broker=5, state=state.value) in plan.reasons
    assert plan.seen.dead_brokers == (5,)
    demoted = planned(uneven(state), PlanOptions(demote_brokers=frozenset({5})))
    assert given_to(demoted, 5) == 0
    for seed in range(1, 4):
        for options in (PlanOptions(within=0.1), PlanOptions(leaders_only=True), PlanOptions(preferred_election=True)):
            assert given_to(planned(uneven(state, seed), options), 5) == 0


def test_it_may_be_removed_and_not_added() -> None:
    snapshot = uneven(BrokerState.SILENT)
    plan = planned(snapshot, PlanOptions(remove_brokers=frozenset({5})))
    assert all(5 not in move.to_replicas for move in plan.moves)
    with pytest.raises(UsageError, match="broker 5 is in the cluster, and silent"):
        make_plan(snapshot, PlanOptions(add_brokers={5: None}))


def test_check_tells_a_broker_that_fell_silent_and_one_that_is_heard_again() -> None:
    heard, silent = uneven(BrokerState.ALIVE), uneven(BrokerState.SILENT)
    plan = to_document(planned(heard, PlanOptions()))
    fell = reason(ReasonCode.BROKER_LOST, FactCode.BROKER_NOW_IN_STATE, broker=5, state="silent")
    assert fell in check_plan(plan, silent).because
    back = to_document(planned(silent, PlanOptions()))
    assert not any(fact.args.get("broker") == 5 for why in check_plan(back, silent).because for fact in why.facts)
    again = reason(ReasonCode.BROKER_BACK, FactCode.BROKER_HAS_RETURNED, broker=5, state="alive")
    assert again in check_plan(back, heard).because


def test_check_does_not_take_what_is_hidden_for_deleted_nor_blindness_for_peace() -> None:
    """Topic t moves in the plan; later nothing or little is shown of it."""
    snapshot = uneven(BrokerState.ALIVE)
    plan = to_document(planned(snapshot, PlanOptions()))
    other = cluster([row("u", p, (p % 3, 3)) for p in range(6)], brokers(6, 3))
    assert ReasonCode.TOPIC_DELETED in check_plan(plan, other).codes
    gap = gap_of("topic", "t", FactCode.LACKS_ALL_BUT_SIZE, "no right to describe it")
    for coverage in ((gap,), (right_gap(Right.DESCRIBE_CLUSTER),)):
        result = check_plan(plan, replace(other, coverage=coverage))
        assert ReasonCode.NOT_SEEN in result.codes
        assert ReasonCode.TOPIC_DELETED not in result.codes
    even = cluster([row("t", p, (p % 3, (p + 1) % 3)) for p in range(9)], brokers(3))
    peace = to_document(planned(even, PlanOptions()))
    assert check_plan(peace, even).codes == (ReasonCode.STILL_NOTHING_TO_DO,)
    blind = replace(even, coverage=(right_gap(Right.DESCRIBE_CLUSTER),))
    silent = replace(even, brokers=tuple(replace(b, state=BrokerState.SILENT) for b in even.brokers))
    for unseen in (blind, silent):
        assert check_plan(peace, unseen).codes == (ReasonCode.NOT_SEEN,)
        assert check_plan(peace, unseen).status is PlanStatus.STALE


def test_disks_of_those_that_were_heard_still_count() -> None:
    """Broker 5 reports no volume: the mean of the others is assumed; their capacities stay."""
    volumes = [replace(b, log_dirs=(LogDir("/d", (b.id + 1) * 500 * GB, 400 * GB),)) for b in brokers(5, 3)]
    snapshot = uneven(BrokerState.SILENT)
    plan = planned(replace(snapshot, brokers=(*volumes, snapshot.brokers[5])), PlanOptions())
    assert fact(FactCode.CAPACITY_ASSUMED_MEAN, resource="disk", broker=5) in plan.reasons
    (disk,) = [outcome for outcome in plan.resources if outcome.resource == "disk"]
    assert disk.capacity is not None
    assert disk.capacity[5] == pytest.approx(1_500 * GB)  # (500 + 1,000 + 1,500 + 2,000 + 2,500) / 5
