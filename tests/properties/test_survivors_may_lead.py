"""Whatever is asked for, no leader ends on a broker that is demoted or closed to leaders where another could lead.

Brokers are demoted and excluded while replication factors fall, stay or rise, brokers leave or come, topics are left
alone, leaders alone change, or a budget holds. Where no replica of today may lead, one has to make room for who may.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.options.values import Target
from kafka_rebalance.planner.linear_program.relaxation import whole_plan
from kafka_rebalance.planner.state import WorkingBands
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import Plan, Verdict, to_document
from kafka_rebalance.plans.request import build_request
from kafka_rebalance.snapshot.model import Broker, ClusterSnapshot
from kafka_rebalance.snapshot.partition_table import Partition
from kafka_rebalance.verify import verify_plan
from tests.unit.planner.sample_clusters import GB, brokers, cluster, row

JOBS = (
    "plain", "up", "down", "remove", "factor and remove", "add", "exclude", "all but one", "targets", "leaders", "pin",
    "bytes", "moves", "changes",
)  # fmt: skip


def closed_cluster(seed: int) -> tuple[list[Partition], ClusterSnapshot, PlanOptions]:
    """4 to 6 brokers, one or two of them demoted (or all but one), which a third of the partitions lie on as far as
    they can; 6 to 14 partitions of 1 to 3 replicas; the jobs in turn.
    """
    draw = np.random.default_rng(seed)
    job, count = JOBS[seed % len(JOBS)], int(draw.integers(4, 7))
    order = draw.permutation(count).tolist()
    rows = []
    for p in range(int(draw.integers(6, 15))):
        factor = int(draw.integers(1, 4))
        chosen = order[:factor] if draw.random() < 0.3 else draw.choice(count, factor, replace=False).tolist()
        rows.append(row(f"t{p % 3}", p, chosen, int(GB * draw.lognormal(0, 0.7)) + 1))
    racks = 0 if job == "add" else int(draw.choice([0, 3]))
    changes: dict[str, dict[str, object]] = {
        "up": {"replication_factor": 3},
        "down": {"replication_factor": 1},
        "remove": {"remove_brokers": frozenset(order[-1:])},
        "factor and remove": {"replication_factor": 2, "remove_brokers": frozenset(order[-1:])},
        "add": {"add_brokers": {count: None}},
        "exclude": {"exclude_brokers": frozenset(order[-1:])},
        "all but one": {"demote_brokers": frozenset(order[:-1])},
        "targets": {"targets": {"disk": Target(None, 1.5)}},
        "leaders": {"leaders_only": True},
        "pin": {"exclude_topics": ("t0",)},
        "bytes": {"max_move_bytes": int(draw.integers(0, 12)) * GB},
        "moves": {"max_moves": int(draw.integers(0, 12))},
        "changes": {"max_leader_changes": int(draw.integers(0, 12))},
    }
    demoted = frozenset(order[: int(draw.integers(1, 3))])
    within = float(draw.choice([0.1, 0.3]))
    options = PlanOptions(within=within, with_frontier=False, demote_brokers=demoted)
    return rows, cluster(rows, brokers(count, racks)), replace(options, **changes.get(job, {}))


def misled(rows: Sequence[Partition], options: PlanOptions, plan: Plan) -> list[str]:
    """Partitions led in the end by a demoted broker, or newly by an excluded one, where another could be had."""
    closed = options.demote_brokers | options.exclude_brokers | options.remove_brokers
    moved = {(move.topic, move.partition): move for move in plan.moves}
    results = []
    for partition in rows:
        move, before = moved.get((partition.topic, partition.partition)), partition.leader
        after = before if move is None else move.leader_to
        wrong = after in options.demote_brokers or (after in options.exclude_brokers and after != before)
        wrong &= partition.topic not in options.exclude_topics
        if wrong and (not options.leaders_only or any(broker not in closed for broker in partition.replicas)):
            results.append(f"{partition} led by {after} in the end")
    return results


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
    assert _hold(range(28)) > 18


def test_a_set_that_none_may_lead_makes_room_in_the_open_broker_s_rack() -> None:
    """Brokers 0 and 1 are demoted, 2 stands in the rack of 0: t-0 moves from 0 to 2, else both shared a rack."""
    racks = [Broker(id=number, rack=rack) for number, rack in enumerate("xyx")]
    snapshot = cluster([row("t", 0, [1, 0], GB)], racks)
    options = PlanOptions(within=0.3, with_frontier=False, demote_brokers=frozenset({0, 1}))
    plan = make_plan(snapshot, options)
    (move,) = plan.moves
    assert (set(move.to_replicas), move.leader_to) == ({1, 2}, 2)
    stays = replace(plan, moves=(replace(move, to_replicas=(1, 0), leader_to=1, bytes=0),))
    assert "leader_forbidden" in {fault.code for fault in verify_plan(to_document(stays), snapshot).wrong}


def test_a_closed_leader_gives_way_to_a_new_replica_that_may_lead() -> None:
    """t-0 is led by broker 0, which is demoted, and gets a second replica. Without bands no change is the cheapest."""
    rows = [row("t", 0, [0], GB), row("t", 1, [1, 2], GB), row("t", 2, [2, 3], GB)]
    options = PlanOptions(within=0.3, with_frontier=False, demote_brokers=frozenset({0}), replication_factor=2)
    problem = build_request(cluster(rows, brokers(4)), options).problem(options.band)
    free = WorkingBands(np.zeros_like(problem.band_low), np.full_like(problem.band_high, np.inf))
    result = whole_plan(problem, free)
    assert result is not None
    assert result.replicas[0, result.replica_index[0]] != 0


@pytest.mark.matrix
@pytest.mark.slow
def test_no_leader_of_four_hundred_clusters_ends_where_none_may_be() -> None:
    assert _hold(range(28, 448)) > 250
