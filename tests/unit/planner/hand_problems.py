"""Problems small enough to solve by hand: a few partitions as (brokers that hold them, GB)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kafka_assignors.arrays import Floats, Ints
from kafka_rebalance.cluster_arrays.problem import BrokerSets, MeasuredLoads, Problem
from kafka_rebalance.cluster_arrays.snapshot_arrays import Brokers, Placement, Wanted, assemble
from kafka_rebalance.planner.state import ReplicaSets, State, WorkingBands, make_state

Rows = Sequence[tuple[tuple[int, ...], float]]


def hand_problem(
    rows: Rows,
    broker_count: int,
    *,
    within: float | None = 0.1,
    resources: tuple[str, ...] = ("disk",),
    racks: Sequence[int] | None = None,
    leaving: Sequence[int] = (),
    no_receivers: Sequence[int] = (),
    disk_limit: Sequence[float] | None = None,
    rates: Sequence[float] | None = None,
    **wanted: object,
) -> Problem:
    """Led by the first broker of each row, one topic; ``rates``: bytes in (and out) per second."""
    width = max(len(replicas) for replicas, _ in rows)
    replicas = np.array([[*held, *[-1] * (width - len(held))] for held, _ in rows], dtype=np.int32)
    numbers = np.arange(broker_count)
    stays = ~np.isin(numbers, leaving)
    flags = Brokers(
        ids=numbers.astype(np.int64),
        rack=np.array([-1] * broker_count if racks is None else racks, dtype=np.int32),
        stays=stays, takes_replicas=stays & ~np.isin(numbers, no_receivers), takes_leaders=stays, keeps_leaders=stays,
        is_new=np.zeros(broker_count, dtype=np.bool_),
        limit={} if disk_limit is None else {"disk": np.array(disk_limit, dtype=np.float64)},
    )  # fmt: skip
    measured = None if rates is None else np.array(rates, dtype=np.float64)
    loads = MeasuredLoads(
        disk_bytes=np.array([size for _, size in rows]), in_bytes_per_s=measured, out_bytes_per_s=measured
    )
    topic = np.zeros(len(rows), dtype=np.int32)
    placement = Placement(replicas=replicas, leader=replicas[:, 0].copy(), topic=topic, loads=loads)
    return assemble(flags, placement, Wanted(within=within, resources=resources, **wanted))  # type: ignore[arg-type]


def hand_state(
    problem: Problem, *, replicas: Sequence[Sequence[int]] | None = None, low: Floats | None = None,
    high: Floats | None = None,
) -> State:  # fmt: skip
    """Search state of today's placement, or of ``replicas``; the problem's bands, or others."""
    placed: Ints = problem.replicas.copy() if replicas is None else np.array(replicas, dtype=np.int32)
    nobody = np.full(problem.partition_count, -1, dtype=np.int32)
    bands = WorkingBands(problem.band_low if low is None else low, problem.band_high if high is None else high)
    sets = ReplicaSets(placed, problem.replicas.copy())
    return make_state(problem, sets, nobody, list(range(len(problem.resources))), bands, seed=0)


def random_problem(draw: np.random.Generator) -> Problem:
    """Eight partitions on five brokers; random flags; half of the partitions confined to some brokers."""
    rows = [(tuple(draw.permutation(5)[: draw.integers(1, 4)].tolist()), 1.0) for _ in range(8)]
    problem = hand_problem(rows, 5)

    def some(*shape: int) -> Any:
        return draw.random(shape) < draw.choice([0.1, 0.5, 0.9])

    must_leave = None if draw.random() < 0.2 else (problem.replicas >= 0) & some(*problem.replicas.shape)
    sets = BrokerSets(draw.integers(0, 2, 8).astype(np.int32), np.stack([np.ones(5, dtype=np.bool_), some(5)]))
    return replace(
        problem, takes_replicas=some(5), takes_leaders=some(5), keeps_leaders=some(5), must_leave=must_leave,
        pinned=some(8), broker_sets=sets, leader=np.where(some(8), problem.leader, -1).astype(np.int32),
        moves_replicas=bool(draw.random() < 0.8),
    )  # fmt: skip


# Brokers 0, 1, 2 hold 15, 10 and 5: mean 10, so 1.5, 1.0 and 0.5 in the search's units.
THREE: Rows = [((0, 1), 6.0), ((0, 1), 4.0), ((0, 2), 5.0)]
ALL_BROKERS = np.arange(3, dtype=np.int32)
