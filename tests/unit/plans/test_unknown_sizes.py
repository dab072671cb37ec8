from __future__ import annotations

from dataclasses import replace

from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.params import DEFAULTS, FrontierParams, PlanParams
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import Move, Plan, Verdict, to_document
from kafka_rebalance.snapshot.model import ClusterSnapshot
from kafka_rebalance.verify import verify_plan
from tests.unit.planner.sample_clusters import GB, brokers, cluster, row

# Points that are not annealed.
_USUAL = DEFAULTS.frontier.solve
SHORT = PlanParams(frontier=FrontierParams(solve=replace(_USUAL, effort=replace(_USUAL.effort, anneal_steps=0))))


def planned(snapshot: ClusterSnapshot, options: PlanOptions) -> Plan:
    plan = make_plan(snapshot, options, params=SHORT)
    assert [str(fault) for fault in verify_plan(to_document(plan), snapshot).wrong] == []
    return plan


def received_by(move: Move) -> set[int]:
    return set(move.to_replicas) - set(move.from_replicas)


def test_a_plan_that_copies_nothing_has_a_frontier_where_nobody_measured_sizes() -> None:
    rows = [row("t", p, [0, 1, 2, 3], None) for p in range(16)]
    plan = planned(cluster(rows, brokers(4)), PlanOptions())
    assert plan.verdict is Verdict.REBALANCE
    assert (plan.cost.bytes, plan.cost.replica_moves) == (0, 0)
    assert plan.cost.leader_changes > 0
    assert len(plan.frontier) >= 8
    assert all(point.bytes == 0 for point in plan.frontier if point.replica_moves == 0)


def test_points_tell_bytes_only_where_the_size_of_all_that_they_copy_is_known() -> None:
    rows = [row("t", p, [0, 1 + p % 3], None) for p in range(24)]
    plan = planned(cluster(rows, brokers(4)), PlanOptions())
    assert plan.frontier
    for point in plan.frontier:
        assert (point.bytes is None) == (point.replica_moves > 0) == (point.lower_bound_bytes is None)
    moves = [point.replica_moves for point in plan.frontier]
    assert moves == sorted(moves)


def test_one_unknown_size_hides_the_bytes_of_the_points_that_copy_it_alone() -> None:
    rows = [row("t", p, [0, 1], None if p == 0 else GB) for p in range(12)]
    rows += [row("u", p, [2 + p % 2, p % 2], GB) for p in range(12)]
    plan = planned(cluster(rows, brokers(5)), PlanOptions(remove_brokers=frozenset({0})))
    assert plan.cost.bytes is None
    assert any(move.bytes is None for move in plan.moves)
    assert all(point.bytes is None for point in plan.frontier)


def test_how_much_room_a_broker_needs_is_not_told_where_it_gets_something_of_unknown_size() -> None:
    rows = [row("t", p, [0, 1], None if p == 0 else GB) for p in range(12)]
    plan = planned(cluster(rows, brokers(6)), PlanOptions(remove_brokers=frozenset({0}), with_frontier=False))
    assert any(move.bytes is None for move in plan.moves)
    for wave in plan.waves:
        members = [plan.moves[member] for member in wave.moves]
        of_known, of_unknown = (
            {broker for move in members if (move.bytes is None) == is_unknown for broker in received_by(move)}
            for is_unknown in (False, True)
        )
        assert set(wave.free_disk_needed) == of_known - of_unknown
        assert (wave.seconds is None) == (wave.bytes is None) == bool(of_unknown)


def test_a_lower_replication_factor_changes_loads_for_nothing_and_its_frontier_says_so() -> None:
    rows = [row("t", p, [p % 4, (p + 1) % 4, (p + 2) % 4], (1 + p % 5) * GB) for p in range(16)]
    plan = planned(cluster(rows, brokers(4)), PlanOptions(replication_factor=2))
    assert plan.verdict is Verdict.REBALANCE
    assert all(len(move.to_replicas) == 2 for move in plan.moves)
    assert len(plan.moves) == 16
