"""A broker that was not heard keeps what it has and is given nothing, whatever is asked; and it is told."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kafka_rebalance.errors import UsageError
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.builder import make_plan
from kafka_rebalance.plans.check.check_plan import check_plan
from kafka_rebalance.plans.plan import Plan, Verdict, to_document
from kafka_rebalance.snapshot.codec import snapshot_from_document, snapshot_to_document
from kafka_rebalance.snapshot.model import BrokerState, ClusterSnapshot
from kafka_rebalance.verify import verify_plan
from tests.unit.planner.sample_clusters import GB, brokers, cluster, row

UNHEARD = tuple(state for state in BrokerState if state.is_unheard)


def uneven(state: BrokerState, seed: int = 0) -> ClusterSnapshot:
    """Six brokers of three racks; broker 5 holds next to nothing, so that everybody would give to it."""
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
    """The three that were not heard stay, the two that are gone do not; nobody is both."""
    assert {state.value for state in UNHEARD} == {"refused", "silent", "disconnected"}
    assert [state for state in BrokerState if state.is_gone] == [BrokerState.FENCED, BrokerState.DEAD]
    assert [state for state in BrokerState if not state.stays] == [
        BrokerState.DRAINING, BrokerState.FENCED, BrokerState.DEAD,
    ]  # fmt: skip
    assert all(state.is_heard == (not state.is_gone and not state.is_unheard) for state in BrokerState)
    read_again = snapshot_from_document(snapshot_to_document(uneven(BrokerState.REFUSED)))
    assert read_again.brokers[5].state is BrokerState.REFUSED


@pytest.mark.parametrize("state", UNHEARD)
def test_nothing_goes_to_a_broker_that_was_not_heard(state: BrokerState) -> None:
    """A heard broker 5 is given much; the same broker unheard nothing, also when it is to be demoted."""
    assert given_to(planned(uneven(BrokerState.ALIVE), PlanOptions()), 5) > 5
    plan = planned(uneven(state), PlanOptions())
    assert plan.verdict is Verdict.REBALANCE
    assert given_to(plan, 5) == 0
    assert f"broker 5 is {state.value}: it gets no replica and no leader until a reading hears it" in plan.reasons
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
    assert any("broker 5 is silent by now" in reason for reason in check_plan(plan, silent).reasons)
    back = to_document(planned(silent, PlanOptions()))
    assert not any("broker 5" in reason for reason in check_plan(back, silent).reasons)
    assert any("broker 5, which was gone, is alive" in reason for reason in check_plan(back, heard).reasons)
