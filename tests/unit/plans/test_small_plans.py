from __future__ import annotations

import json
from dataclasses import replace
from functools import cache

import pytest

from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.options.values import Target
from kafka_rebalance.plans.check import PlanStatus, check_plan
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import MoveKind, Plan, Verdict, to_document
from kafka_rebalance.snapshot.figures import LoadKind
from kafka_rebalance.snapshot.model import BrokerState, Capacity, ClusterSnapshot
from kafka_rebalance.verify import verify_plan
from kafka_rebalance.verify.verification import verify_folder
from rebalance_advisor.publish.plan_files import plan_files
from tests.unit.planner.sample_clusters import GB, brokers, cluster, row
from tests.unit.plans.hand_plans import ROWS, SNAPSHOT

RACKED_ROWS = [
    *[row("a", p, (0, 1), (p + 1) * GB) for p in range(4)],
    *[row("b", p, (2, 1), 2 * GB) for p in range(3)],
    row("c", 0, (0, 3), 3 * GB),
]
RACKED = cluster(RACKED_ROWS, brokers(4, racks=2))
RATES = {
    LoadKind.IN_BYTES_PER_S: [100.0 * (p + 1) for p in range(8)],
    LoadKind.OUT_BYTES_PER_S: [300.0 - 20 * p for p in range(8)],
    LoadKind.CPU_PERCENT: [2.0 * (p % 3 + 1) for p in range(8)],
}
RATED = cluster(RACKED_ROWS, brokers(4, racks=2), rates=RATES)
DISKS = replace(
    RACKED, brokers=tuple(replace(b, capacity=Capacity(disk_bytes=(40.0 + 10 * b.id) * GB)) for b in RACKED.brokers)
)
DEAD = cluster(
    [replace(item, isr=tuple(b for b in item.replicas if b != 3)) for item in RACKED_ROWS],
    brokers(4, racks=2, b3=BrokerState.DEAD),
)
CASES: dict[str, tuple[ClusterSnapshot, PlanOptions]] = {
    "a fifth": (SNAPSHOT, PlanOptions(within=0.2)),
    "no order": (SNAPSHOT, PlanOptions()),
    "racks": (RACKED, PlanOptions(within=0.2)),
    "rates": (RATED, PlanOptions(within=0.3)),
    "disks": (DISKS, PlanOptions(within=0.2)),
    "a dead broker": (DEAD, PlanOptions()),
    "a broker to remove": (RACKED, PlanOptions(remove_brokers=frozenset({2}))),
    "a broker to add": (RACKED, PlanOptions(add_brokers={4: "rack-0"})),
    "a demoted one": (RACKED, PlanOptions(demote_brokers=frozenset({0}))),
    "an excluded one": (RACKED, PlanOptions(exclude_brokers=frozenset({3}), within=0.3)),
    "three replicas": (RACKED, PlanOptions(replication_factor=3)),
    "one replica": (RACKED, PlanOptions(replication_factor=1)),
    "leaders only": (RATED, PlanOptions(leaders_only=True, within=0.3)),
    "an election": (
        cluster([replace(item, leader=item.replicas[1]) for item in RACKED_ROWS], brokers(4, racks=2)),
        PlanOptions(preferred_election=True),
    ),
    "a target": (RATED, PlanOptions(targets={"out": Target(None, 1.3)})),
    "a budget": (SNAPSHOT, PlanOptions(within=0.2, max_move_bytes=5 * GB)),
    "a topic left alone": (RACKED, PlanOptions(within=0.2, exclude_topics=("a",))),
    "small waves": (RACKED, PlanOptions(within=0.2, moves_per_broker=1, partitions_per_wave=1)),
    "unknown sizes": (cluster([row("t", p, (0, 1), None) for p in range(6)], brokers(3)), PlanOptions(within=0.3)),
}


@cache
def planned(name: str) -> tuple[ClusterSnapshot, Plan]:
    """One of them with its frontier, which is eight more searches."""
    snapshot, options = CASES[name]
    return snapshot, make_plan(snapshot, replace(options, with_frontier=name == "a fifth"))


@pytest.mark.parametrize("name", CASES)
def test_a_small_plan_is_right_with_all_its_files(name: str) -> None:
    snapshot, plan = planned(name)
    document = to_document(plan)
    assert [str(fault) for fault in verify_plan(json.loads(json.dumps(document)), snapshot).wrong] == []
    contents = plan_files(plan) | {"plan.json": json.dumps(document).encode()}
    assert [str(fault) for fault in verify_folder(contents, snapshot).wrong] == []
    bounds = {bound.cost: bound for bound in plan.lower_bound}
    assert bounds["replica_moves"].value <= plan.cost.replica_moves
    if plan.moves and not plan.parameters["add_brokers"]:  # an added broker has to join first
        assert check_plan(document, snapshot).status is PlanStatus.VALID


def test_the_least_move_into_the_band_is_found() -> None:
    """15, 10 and 5 GB with 3, 2, 1 replicas: partition 1 alone brings disks and counts into 0.8..1.2."""
    _, plan = planned("a fifth")
    assert plan.verdict is Verdict.REBALANCE
    assert (plan.cost.bytes, plan.cost.replica_moves) == (4 * GB, 1)
    (moved,) = [move for move in plan.moves if move.kind is MoveKind.REPLICA]
    assert (moved.partition, sorted(moved.to_replicas)) == (1, [1, 2])


def test_what_was_asked_for_is_done() -> None:
    _, removed = planned("a broker to remove")
    assert all(2 not in move.to_replicas for move in removed.moves)
    assert {move.partition for move in removed.moves if 2 in move.from_replicas} == {0, 1, 2}
    _, dead = planned("a dead broker")
    assert [3 in move.from_replicas for move in dead.moves if move.topic == "c"] == [True]
    _, demoted = planned("a demoted one")
    assert all(move.leader_to != 0 for move in demoted.moves)
    assert sum(move.leader_from == 0 for move in demoted.moves) == 5
    _, three = planned("three replicas")
    assert {len(move.to_replicas) for move in three.moves} == {3}
    assert len(three.moves) == 8
    _, first = planned("one replica")
    assert {len(move.to_replicas) for move in first.moves} == {1}


def test_leaders_alone_copy_nothing() -> None:
    for name in ("leaders only", "an election"):
        _, plan = planned(name)
        assert plan.cost.bytes == plan.cost.replica_moves == 0
        assert all(sorted(move.from_replicas) == sorted(move.to_replicas) for move in plan.moves)
    _, elected = planned("an election")
    assert len(elected.moves) == 8


def test_limits_are_kept() -> None:
    _, cheap = planned("a budget")
    assert (cheap.cost.bytes or 0) <= 5 * GB
    _, alone = planned("a topic left alone")
    assert all(move.topic != "a" for move in alone.moves)
    _, waves = planned("small waves")
    assert all(len(wave.moves) == 1 for wave in waves.waves)
    _, excluded = planned("an excluded one")
    assert all(3 not in set(move.to_replicas) - set(move.from_replicas) for move in excluded.moves)


def test_the_same_plan_twice_and_confirmed_the_day_after() -> None:
    snapshot, options = CASES["racks"]
    first, second = make_plan(snapshot, options), make_plan(snapshot, options)
    assert first.plan_id == second.plan_id
    again = make_plan(snapshot, options, previous=to_document(first))
    assert again.continues == first.plan_id
    assert [(move.partition, move.to_replicas) for move in again.moves] == [
        (move.partition, move.to_replicas) for move in first.moves
    ]


def test_nothing_to_do_where_everything_is_even() -> None:
    even = cluster([row("t", p, (p % 3, (p + 1) % 3), GB) for p in range(6)], brokers(3))
    plan = make_plan(even, PlanOptions())
    assert (plan.verdict, plan.moves) == (Verdict.NOTHING_TO_DO, ())
    assert verify_plan(json.loads(json.dumps(to_document(plan))), even).is_right


def test_what_cannot_be_is_told() -> None:
    lonely = make_plan(SNAPSHOT, PlanOptions(replication_factor=4))
    assert lonely.verdict is Verdict.INFEASIBLE
    assert verify_plan(json.loads(json.dumps(to_document(lonely))), SNAPSHOT).is_right
    giant = cluster([row("t", 0, (0,), 20 * GB), row("t", 1, (1,), 2 * GB), row("t", 2, (2,), 2 * GB)], brokers(3))
    stuck = make_plan(giant, PlanOptions(within=0.2))
    assert stuck.verdict is Verdict.NOT_FIXABLE_BY_MOVING
    assert verify_plan(json.loads(json.dumps(to_document(stuck))), giant).is_right
    blind = make_plan(
        cluster(ROWS, brokers(3, b0=BrokerState.DEAD, b1=BrokerState.DEAD, b2=BrokerState.DEAD)), PlanOptions()
    )
    assert blind.verdict is Verdict.CANNOT_TELL
