"""Whatever is asked for, no leader ends on a broker that is demoted or closed to leaders where another could lead.

Brokers are demoted and excluded while replication factors fall, stay or rise, and brokers leave.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.planner.linear_program.whole_plan import whole_plan
from kafka_rebalance.planner.working_bands import WorkingBands
from kafka_rebalance.plans.builder import make_plan
from kafka_rebalance.plans.plan import Plan, Verdict, to_document
from kafka_rebalance.plans.request import build_request
from kafka_rebalance.snapshot.model import ClusterSnapshot
from kafka_rebalance.snapshot.partition_table import Partition
from kafka_rebalance.verify import verify_plan
from tests.unit.planner.sample_clusters import GB, brokers, cluster, row


def closed_cluster(seed: int) -> tuple[list[Partition], ClusterSnapshot, PlanOptions]:
    """4 to 6 brokers, one or two of them demoted, perhaps one excluded; 6 to 14 partitions of 1 to 3 replicas."""
    draw = np.random.default_rng(seed)
    count = int(draw.integers(4, 7))
    rows = []
    for p in range(int(draw.integers(6, 15))):
        chosen = draw.choice(count, int(draw.integers(1, 4)), replace=False).tolist()
        rows.append(row("t", p, chosen, int(GB * draw.lognormal(0, 0.7)) + 1))
    order = draw.permutation(count).tolist()
    demoted = frozenset(order[: int(draw.integers(1, 3))])
    excluded = frozenset(order[2:3]) if draw.random() < 0.3 else frozenset()
    job = int(draw.integers(0, 5))
    options = PlanOptions(
        within=float(draw.choice([0.1, 0.3])),
        with_frontier=False,
        demote_brokers=demoted,
        exclude_brokers=excluded,
        replication_factor=None if job == 0 else int(draw.integers(1, 3)),
        remove_brokers=frozenset(order[3:4]) if job == 1 else frozenset(),
        max_leader_changes=int(draw.integers(20, 40)) if job == 2 else None,
    )
    return rows, cluster(rows, brokers(count, int(draw.choice([0, 3])))), options


def misled(rows: Sequence[Partition], options: PlanOptions, plan: Plan) -> list[str]:
    """Partitions led in the end by a demoted broker, or newly by an excluded one, where one of today's is open."""
    closed = options.demote_brokers | options.exclude_brokers | options.remove_brokers
    moved = {(move.topic, move.partition): move for move in plan.moves}
    found = []
    for partition in rows:
        move, before = moved.get((partition.topic, partition.partition)), partition.leader
        after = before if move is None else move.leader_to
        wrong = after in options.demote_brokers or (after in options.exclude_brokers and after != before)
        if wrong and any(broker not in closed for broker in partition.replicas):
            found.append(f"{partition} led by {after} in the end")
    return found


def _hold(seeds: Sequence[int]) -> int:
    planned = 0
    for seed in seeds:
        rows, snapshot, options = closed_cluster(seed)
        plan = make_plan(snapshot, options)
        assert [str(fault) for fault in verify_plan(to_document(plan), snapshot).wrong] == [], seed
        if plan.verdict is not Verdict.INFEASIBLE:
            assert misled(rows, options, plan) == [], seed
            planned += bool(plan.moves)
    return planned


def test_no_leader_ends_where_none_may_be() -> None:
    assert _hold(range(25)) > 15


def test_a_closed_leader_gives_way_to_a_new_replica_that_may_lead() -> None:
    """t-0 is led by broker 0, which is demoted, and gets a second replica. Without bands no change is the cheapest."""
    rows = [row("t", 0, [0], GB), row("t", 1, [1, 2], GB), row("t", 2, [2, 3], GB)]
    options = PlanOptions(within=0.3, with_frontier=False, demote_brokers=frozenset({0}), replication_factor=2)
    problem = build_request(cluster(rows, brokers(4)), options).problem(options.band)
    free = WorkingBands(np.zeros_like(problem.band_low), np.full_like(problem.band_high, np.inf))
    found = whole_plan(problem, free)
    assert found is not None
    assert found.replicas[0, found.replica_index[0]] != 0


@pytest.mark.slow
def test_no_leader_of_three_hundred_clusters_ends_where_none_may_be() -> None:
    assert _hold(range(25, 325)) > 200
