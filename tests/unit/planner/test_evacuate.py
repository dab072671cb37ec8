from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kafka_rebalance.cluster_arrays.problem import MeasuredLoads, Problem
from kafka_rebalance.cluster_arrays.snapshot_arrays import Brokers, Placement, Wanted, assemble
from kafka_rebalance.planner.replicas.search import search_replicas, start_sets
from kafka_rebalance.planner.solution import SearchStatistics
from kafka_rebalance.planner.solve import solve
from kafka_rebalance.planner.state import working_bands

ALL = (True, True, True, True)


def sample(
    rows: Sequence[tuple[tuple[int, ...], float, float]],
    *,
    stays: Sequence[bool] = ALL,
    takes: Sequence[bool] = ALL,
    disk_limit: Sequence[float] | None = None,
    within: float = 0.2,
) -> Problem:
    """Partitions as (replicas, bytes, bytes in per second) on four brokers without racks."""
    replicas = np.array([row[0] for row in rows], dtype=np.int32)
    kept = np.array(stays)
    flags = Brokers(
        ids=np.arange(4, dtype=np.int64), rack=np.full(4, -1, dtype=np.int32), stays=kept,
        takes_replicas=kept & np.array(takes), takes_leaders=kept, keeps_leaders=kept, is_new=np.zeros(4, dtype=bool),
        limit={} if disk_limit is None else {"disk": np.array(disk_limit, dtype=np.float64)},
    )  # fmt: skip
    loads = MeasuredLoads(
        disk_bytes=np.array([row[1] for row in rows]),
        in_bytes_per_s=np.array([row[2] for row in rows]),
        out_bytes_per_s=None,
        cpu_percent=None,
    )
    topic = np.arange(len(rows), dtype=np.int32)
    placement = Placement(replicas=replicas, leader=replicas[:, 0].copy(), topic=topic, loads=loads)
    return assemble(flags, placement, Wanted(within=within, resources=("disk", "in")))


def searched(problem: Problem) -> tuple[np.ndarray, int, SearchStatistics]:
    bands = working_bands(problem, problem.band_low, problem.band_high)
    result = search_replicas(problem, start_sets(problem), bands, seed=0)
    return result.replicas, result.stranded, result.statistics


BUSY_AND_SMALL = [((0, 1), 1.0, 6.0 + i) for i in range(8)]
CALM_AND_LARGE = [(pair, 10.0, 1.0) for pair in ((0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (2, 3)) for _ in range(6)]


def test_what_covers_the_excess_cheaply_is_what_is_released() -> None:
    problem = sample([*BUSY_AND_SMALL, *CALM_AND_LARGE])
    replicas, stranded, statistics = searched(problem)
    assert (stranded, statistics.released > 0) == (0, True)
    moved = (np.sort(replicas) != np.sort(problem.replicas)).any(axis=1)
    assert moved[: len(BUSY_AND_SMALL)].any()
    assert solve(problem).cost.bytes <= len(BUSY_AND_SMALL) * 2


def test_released_without_room_elsewhere_it_returns_home() -> None:
    full = [1000.0, 1000.0, 180.0, 180.0]
    problem = sample([*BUSY_AND_SMALL, *CALM_AND_LARGE], disk_limit=full)
    replicas, stranded, statistics = searched(problem)
    assert (stranded, statistics.released > 0) == (0, True)
    assert (np.sort(replicas) == np.sort(problem.replicas)).all()


def test_released_from_a_broker_that_takes_nothing_it_may_return_there() -> None:
    problem = sample(
        [*BUSY_AND_SMALL, *CALM_AND_LARGE], takes=(False, False, False, True), disk_limit=[1e3, 1e3, 1e3, 180.0]
    )
    replicas, stranded, _ = searched(problem)
    assert stranded == 0
    assert (np.sort(replicas) == np.sort(problem.replicas)).all()


def test_what_must_leave_goes_before_what_only_should() -> None:
    """Broker 3 has room for 5 bytes: enough for the evacuation of broker 0, not also for relief of broker 1."""
    busy = [((1, 2), 4.0, 36.0 + i) for i in range(5)]
    rows = [((0, 2), 5.0, 1.0), *busy, *[((1, 2), 20.0, 1.0)] * 3, *[((2, 3), 20.0, 1.0)] * 3]
    problem = sample(
        rows,
        stays=(False, True, True, True),
        takes=(False, False, False, True),
        disk_limit=[1e3, 1e3, 1e3, 65.0],
        within=0.05,
    )
    replicas, stranded, statistics = searched(problem)
    assert (stranded, statistics.released) == (0, 0)  # given up: it was in the way
    assert sorted(replicas[0].tolist()) == [2, 3]
    assert (np.sort(replicas[1:]) == np.sort(problem.replicas[1:])).all()
