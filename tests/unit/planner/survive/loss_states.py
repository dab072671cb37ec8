"""Loss states for tests: random clusters with loads close to capacity after a loss."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.planner.survive import LossState
from kafka_rebalance.plans.draft import empty_draft
from kafka_rebalance.plans.request import build_request
from kafka_rebalance.plans.survival import loss_state_of
from kafka_rebalance.snapshot.figures import LoadKind
from kafka_rebalance.snapshot.model import Capacity, ClusterSnapshot
from tests.unit.planner.sample_clusters import brokers, cluster, random_cluster, row

SLACKS = (1.02, 1.1, 1.2, 1.35, 1.6, 2.0)


def state_of(snapshot: ClusterSnapshot, options: PlanOptions) -> LossState:
    request = build_request(snapshot, options)
    return loss_state_of(request, request.problem(0.1), empty_draft(request))


def tight(seed: int, *, most_topics: int = 2, most_in_rack: int = 2) -> tuple[ClusterSnapshot, PlanOptions]:
    """Outgoing capacities a little or much above the even load after a loss; every third: leaders only."""
    draw = np.random.default_rng(seed)
    racks = int(draw.integers(2, 5))
    count = max(racks * int(draw.integers(1, most_in_rack + 1)), 3)
    snapshot = random_cluster(seed, broker_count=count, racks=racks, topics=int(draw.integers(1, most_topics + 1)))
    kind = "rack" if seed % 2 else "broker"
    options = PlanOptions(survive=kind, leaders_only=seed % 3 == 0, with_frontier=False)
    unlimited = replace(options, capacities=dict.fromkeys(range(count), Capacity(out_bytes_per_s=1.0)))
    lost = -(-count // racks) if kind == "rack" else 1
    state = state_of(snapshot, unlimited)
    even = float(state.load[:, state.arrays.guarded[0]].sum()) / (count - lost)
    capacity = Capacity(out_bytes_per_s=even * float(draw.choice(SLACKS)), cpu_percent=100.0)
    return snapshot, replace(options, capacities=dict.fromkeys(range(count), capacity))


def three(
    lists: list[list[int]], out: list[float], capacity: float, count: int = 3
) -> tuple[ClusterSnapshot, PlanOptions]:
    """Partitions of one topic whose leaders send ``out`` to consumers; no writes."""
    rows = [row("t", number, replicas) for number, replicas in enumerate(lists)]
    nothing = [0.0] * len(rows)
    rates = {LoadKind.OUT_BYTES_PER_S: out, LoadKind.IN_BYTES_PER_S: nothing}
    snapshot = cluster(rows, brokers(count, racks=count), rates=rates)
    capacities = dict.fromkeys(range(count), Capacity(out_bytes_per_s=capacity))
    return snapshot, PlanOptions(survive="broker", capacities=capacities, with_frontier=False)
