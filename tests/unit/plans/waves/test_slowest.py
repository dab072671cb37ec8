from __future__ import annotations

from dataclasses import replace

from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import Cost, Move, MoveKind, Slowest, Wave, find_slowest_broker, to_document
from kafka_rebalance.verify import verify_plan
from rebalance_advisor.publish.plan_text import plan_lines
from tests.sample import for_each
from tests.unit.plans.hand_plans import SNAPSHOT
from tests.unit.plans.waves.test_leader_steps import led_elsewhere

WHY, WORSE = fact(FactCode.SEPARATES_RACKS), fact(FactCode.SHARES_RACK)
THROTTLE = 1_000_000


def test_the_broker_that_is_busy_longest_is_named_with_its_direction() -> None:
    """At 10 bytes/s broker 1 sends 300 + 200 bytes; 2 receives 150 + 200, 3 receives 150: 50 s against 35 s."""
    first = Move("t", 0, (1, 0), (1, 2, 3), 1, 1, MoveKind.REPLICA, 300, 1, WHY, WORSE)
    two = Move("t", 1, (1, 0), (2, 1), 1, 2, MoveKind.REPLICA, 200, 2, WHY, WORSE)
    plan = replace(
        make_plan(SNAPSHOT, PlanOptions(with_frontier=False)),
        moves=(first, two), waves=(Wave((0,), 300, 30.0, 10), Wave((1,), 200, 20.0, 10)),
        cost=Cost(3, 500, 1, 50.0, 50.0),
    )  # fmt: skip
    assert find_slowest_broker(plan) == Slowest(1, "outgoing", 50.0)
    assert any("slowest is broker 1's outgoing throttle: 50 s of 50 s" in line for line in plan_lines(plan))
    faster = replace(plan, waves=(Wave((0,), 300, 30.0, 10), Wave((1,), 200, 10.0, 20)))
    assert find_slowest_broker(faster) == Slowest(1, "outgoing", 40.0)
    assert find_slowest_broker(replace(plan, cost=replace(plan.cost, seconds=None))) is None
    assert find_slowest_broker(replace(plan, moves=(), waves=())) is None


@for_each("seed", range(12))
def test_nobody_empties_a_broker_sooner_than_leaders_can_send(seed: int) -> None:
    """Each partition on broker 1 is copied once, and read from its leader's broker: counted one by one."""
    snapshot = led_elsewhere(40, 5, seed)
    plan = make_plan(snapshot, drained())
    assert verify_plan(to_document(plan), snapshot).is_right
    sent = dict.fromkeys(range(5), 0)
    for p in range(40):
        if 1 in snapshot.partitions.replicas[2 * p : 2 * p + 2]:
            sent[int(snapshot.partitions.leader[p])] += int(snapshot.partitions.replica_log_bytes[2 * p])
    bound = next(bound for bound in plan.lower_bound if bound.cost == "seconds")
    assert max(sent.values()) / THROTTLE <= bound.value * (1 + 1e-9)
    busiest = find_slowest_broker(plan)
    assert busiest is not None
    assert plan.cost.seconds is not None
    assert bound.value <= busiest.seconds * (1 + 1e-9) <= plan.cost.seconds * (1 + 2e-9)


def drained() -> PlanOptions:
    """Broker 1 is emptied, at a megabyte a second."""
    return PlanOptions(remove_brokers=frozenset({1}), with_frontier=False, throttle_bytes_per_s=THROTTLE)
