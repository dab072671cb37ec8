from __future__ import annotations

import numpy as np

from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.draft import draft_of
from kafka_rebalance.plans.failures import with_follower_order
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import MoveKind, Verdict, to_document
from kafka_rebalance.plans.request import build_request
from kafka_rebalance.snapshot.model import ClusterSnapshot
from kafka_rebalance.verify.verification import verify_plan
from tests.unit.planner.sample_clusters import brokers, cluster, random_cluster, row

FIVE = cluster(tuple(row("t", p, (0, 1, 2)) for p in range(5)), brokers(4))


def moved(options: PlanOptions) -> tuple[list[list[int]], int]:
    """``to`` of four partitions whose last replica goes from broker 2 to broker 3, and the bytes that this copies."""
    plan_request = build_request(FIVE, options)
    replicas = np.array([[0, 1, 3]] * 4 + [[0, 1, 2]], dtype=np.int32)
    draft = with_follower_order(plan_request, draft_of(plan_request, replicas, np.zeros(5, dtype=np.int32)))
    return draft.end.tolist(), sum(amount or 0 for amount in draft.bytes_forward())


def test_four_that_move_share_their_standbys_with_one_that_stays() -> None:
    """The fifth stays, its standby is 1: of the other four 1 gets one or two, 3 the rest; each copies 1 GB."""
    lists, copied = moved(PlanOptions())
    standbys = [replicas[1] for replicas in lists]
    assert (len(lists), copied) == (4, 4 * 10**9)
    assert [sorted(replicas) for replicas in lists] == [[0, 1, 3]] * 4
    assert (standbys.count(1) + 1, standbys.count(3)) in {(2, 3), (3, 2)}


def test_a_plan_with_its_followers_in_order_is_found_right_on_random_clusters() -> None:
    """Leaders stay first, and the verifier, which knows nothing of the order, finds nothing wrong."""
    for seed in range(4):
        snapshot = random_cluster(seed)
        plan = make_plan(snapshot, PlanOptions(within=0.1, with_frontier=False))
        verification = verify_plan(to_document(plan), snapshot)
        assert verification.is_right, verification.wrong
        assert plan.moves, seed
        assert all(move.to_replicas[0] == move.leader_to for move in plan.moves)


def test_a_preferred_election_changes_no_list() -> None:
    plan_request = build_request(FIVE, PlanOptions(preferred_election=True))
    leaders = np.array([1, 0, 0, 0, 0], dtype=np.int32)
    draft = draft_of(plan_request, plan_request.partitions.placement.replicas, leaders)
    assert with_follower_order(plan_request, draft).end.tolist() == [[0, 1, 2]]


def uneven(count: int = 6) -> ClusterSnapshot:
    """Loads are even; each broker's leaders have one standby."""
    rows = [row("t", 3 * p + b, (b, (b + 1) % 3, (b + 2) % 3)) for p in range(count) for b in range(3)]
    return cluster(tuple(rows), brokers(3))


def test_lists_that_stay_are_left_alone_unless_they_were_asked_for() -> None:
    assert make_plan(uneven(), PlanOptions(with_frontier=False)).verdict is Verdict.NOTHING_TO_DO


def test_a_plan_of_new_orders_alone_copies_nothing_and_changes_no_leader() -> None:
    """Three of the six that each broker leads get the other standby."""
    plan = make_plan(uneven(), PlanOptions(with_frontier=False, max_reorders=100))
    assert plan.verdict is Verdict.REBALANCE
    assert (plan.cost.bytes, plan.cost.replica_moves, plan.cost.leader_changes, len(plan.moves)) == (0, 0, 0, 9)
    assert {move.kind for move in plan.moves} == {MoveKind.ORDER}
    assert plan.moves[0].reason == fact(FactCode.NAMES_NEXT_LEADER, broker=2, lost=0)
    verification = verify_plan(to_document(plan), uneven())
    assert verification.is_right, verification.wrong


def test_orders_are_limited_and_undone() -> None:
    plan = make_plan(uneven(), PlanOptions(with_frontier=False, max_reorders=4))
    assert len(plan.moves) == 4
    assert plan.rollback is not None
    assert sum(len(wave.moves) for wave in plan.rollback.waves) == 4


def test_a_second_plan_finds_the_orders_made() -> None:
    """Applied, they are as even as can be: nothing to do."""
    snapshot = uneven()
    plan = make_plan(snapshot, PlanOptions(with_frontier=False, max_reorders=100))
    to = {(move.topic, move.partition): move.to_replicas for move in plan.moves}
    rows = [row(p.topic, p.partition, to.get((p.topic, p.partition), p.replicas)) for p in snapshot.each_partition()]
    again = make_plan(cluster(tuple(rows), brokers(3)), PlanOptions(with_frontier=False, max_reorders=100))
    assert again.verdict is Verdict.NOTHING_TO_DO


def test_plans_with_orders_are_found_right_on_random_clusters() -> None:
    """Beside moves of replicas and leaders, and alone."""
    kinds = set()
    for seed in range(6):
        snapshot = random_cluster(seed)
        options = PlanOptions(within=0.1 + 0.3 * (seed % 2), with_frontier=seed == 0, max_reorders=10**6)
        plan = make_plan(snapshot, options)
        verification = verify_plan(to_document(plan), snapshot)
        assert verification.is_right, (seed, verification.wrong)
        kinds |= {move.kind for move in plan.moves}
    assert kinds == set(MoveKind)
