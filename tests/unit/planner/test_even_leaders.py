import itertools
import json
from pathlib import Path

import numpy as np
import pytest

from kafka_assignors.errors import InvalidInputError
from kafka_rebalance.cluster_arrays.problem import MeasuredLoads
from kafka_rebalance.cluster_arrays.snapshot_arrays import Brokers, Placement, Wanted, assemble
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.options.values import Target
from kafka_rebalance.planner.leaders import EvenLeaders, even_leaders, least_leader_changes
from kafka_rebalance.planner.solve import solve
from kafka_rebalance.plans.request import build_request
from tests.unit.planner.sample_clusters import random_cluster

MAP = Path(__file__).resolve().parents[2] / "data" / "kafka-kit-256-partitions-23-brokers.json"


def proved(replicas: np.ndarray, leader: np.ndarray, low: np.ndarray, high: np.ndarray, prices: np.ndarray) -> int:
    """Bound by the prices: weak duality, summed anew."""
    cost = (replicas != leader[:, None]) + prices[replicas]
    least = np.where(replicas >= 0, cost, 1 << 40).min(axis=1).sum()
    return int(least - np.where(prices > 0, prices * high, prices * low).sum())


def random_case(draw: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    brokers, partitions = int(draw.integers(2, 6)), int(draw.integers(1, 8))
    width = int(draw.integers(1, min(3, brokers) + 1))
    replicas = np.array([draw.permutation(brokers)[:width] for _ in range(partitions)], dtype=np.int32)
    leader = replicas[np.arange(partitions), draw.integers(0, width, partitions)].copy()
    leader[draw.random(partitions) < 0.1] = -1
    low = draw.integers(0, 3, brokers)
    return replicas, leader, low, low + draw.integers(0, 3, brokers)


def outside(counts: np.ndarray, low: np.ndarray, high: np.ndarray) -> int:
    """Least number of changes to reach the bands."""
    return int(max(np.maximum(counts - high, 0).sum(), np.maximum(low - counts, 0).sum()))


def counts_of(leader: np.ndarray, brokers: int) -> np.ndarray:
    return np.bincount(leader, minlength=brokers)


def test_no_choice_of_leaders_is_better_than_the_flows() -> None:
    draw = np.random.default_rng(11)
    feasible = 0
    for _ in range(300):
        replicas, leader, low, high = random_case(draw)
        result = even_leaders(replicas, leader, low, high)
        best = min(
            (outside(counts_of(np.array(choice), len(low)), low, high), int((np.array(choice) != leader).sum()))
            for choice in itertools.product(*replicas.tolist())
        )
        assert outside(counts_of(result.leader, len(low)), low, high) == best[0] == result.left
        assert result.changes == (result.leader != leader).sum()
        if best[0] == 0:
            feasible += 1
            assert result.changes == best[1] == proved(replicas, leader, low, high, result.prices)
    assert feasible > 50


def test_the_smallest_sum_of_squares_comes_with_the_fewest_changes() -> None:
    draw = np.random.default_rng(12)
    for _ in range(200):
        replicas, leader, low, _ = random_case(draw)
        none, all_of_them = np.zeros_like(low), np.full_like(low, len(replicas))
        result = even_leaders(replicas, leader, none, all_of_them, squares=True)
        best = min(
            (int((counts_of(np.array(choice), len(low)) ** 2).sum()), int((np.array(choice) != leader).sum()))
            for choice in itertools.product(*replicas.tolist())
        )
        assert (int((counts_of(result.leader, len(low)) ** 2).sum()), result.changes) == best


def public_map() -> tuple[np.ndarray, int]:
    rows = [row["replicas"] for row in json.loads(MAP.read_text())["partitions"]]
    ids, flat = np.unique(np.array(rows), return_inverse=True)
    return flat.reshape(len(rows), -1).astype(np.int32), len(ids)


def test_sixteen_changes_bring_the_public_map_where_another_tool_takes_137() -> None:
    """kafka-kit's own test map; its golden output reaches leader to replica ratios of 0.417 to 0.550."""
    replicas, brokers = public_map()
    held = np.bincount(replicas.ravel(), minlength=brokers)
    low, high = np.ceil(0.417 * held - 1e-9).astype(np.int64), np.floor(0.550 * held + 1e-9).astype(np.int64)
    result = even_leaders(replicas, replicas[:, 0], low, high)
    ratio = counts_of(result.leader, brokers) / held
    assert (result.left, result.changes) == (0, 16)
    assert 0.417 <= ratio.min() <= ratio.max() <= 0.550
    assert proved(replicas, replicas[:, 0], low, high, result.prices) == 16


def test_74_changes_give_the_public_map_its_smallest_standard_deviation() -> None:
    replicas, brokers = public_map()
    limits = np.zeros(brokers, dtype=np.int64), np.full(brokers, len(replicas))
    result = even_leaders(replicas, replicas[:, 0], *limits, squares=True)
    assert result.changes <= 74
    assert counts_of(result.leader, brokers).std() <= 2.44


def test_brokers_that_only_they_can_relieve_are_named_where_counts_cannot_be_met() -> None:
    """Brokers 0 and 1 hold five partitions between them and may lead two each."""
    replicas = np.array([[0, 1]] * 5 + [[2, 3]], dtype=np.int32)
    low, high = np.zeros(4, dtype=np.int64), np.full(4, 2)
    result = even_leaders(replicas, replicas[:, 0], low, high)
    assert result.left == 1
    assert result.stuck.tolist() == [True, True, False, False]


def test_a_band_without_a_count_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="band of broker index 0"):
        even_leaders(np.array([[0, 1]], dtype=np.int32), np.array([0]), np.array([2, 0]), np.array([1, 1]))


def piled_up(brokers: int, partitions: int, racks: int) -> tuple[np.ndarray, np.ndarray]:
    """Three replicas on distinct racks, 30 % of the partitions led by the lowest of their brokers."""
    draw = np.random.default_rng(5)
    rack = np.argsort(draw.random((partitions, racks)), axis=1)[:, :3]
    replicas = (rack + racks * draw.integers(0, brokers // racks, (partitions, 3))).astype(np.int32)
    replica_index = draw.integers(0, 3, partitions)
    is_lowest = draw.random(partitions) < 0.3
    replica_index[is_lowest] = replicas[is_lowest].argmin(axis=1)
    return replicas, replicas[np.arange(partitions), replica_index]


def evened(brokers: int, partitions: int, racks: int) -> EvenLeaders:
    replicas, leader = piled_up(brokers, partitions, racks)
    low, high = np.full(brokers, partitions // brokers), np.full(brokers, -(-partitions // brokers))
    result = even_leaders(replicas, leader, low, high)
    counts = counts_of(result.leader, brokers)
    assert counts.max() - counts.min() <= 1
    assert result.changes == (result.leader != leader).sum() == proved(replicas, leader, low, high, result.prices)
    return result


@pytest.mark.parametrize(("brokers", "partitions", "racks"), [(9, 1_000, 3), (30, 10_000, 3), (100, 30_000, 4)])
def test_even_counts_take_exactly_the_changes_that_the_prices_prove(brokers: int, partitions: int, racks: int) -> None:
    evened(brokers, partitions, racks)


@pytest.mark.slow
def test_even_counts_of_333_000_partitions_are_proved_minimal() -> None:
    evened(996, 333_000, 6)


def test_a_job_for_leader_counts_alone_costs_its_proven_minimum() -> None:
    draw, proven = np.random.default_rng(3), 0
    for seed in range(20):
        snapshot = random_cluster(seed, with_rates=False)
        first = float(draw.uniform(0.85, 1.0))
        options = PlanOptions(leaders_only=True, targets={"leaders": Target(first, 2 - first)})
        plan_request = build_request(snapshot, options)
        problem = plan_request.problem(options.band)
        least, solution = least_leader_changes(problem), solve(problem)
        if least is not None:
            proven += 1
            assert solution.cost.leader_changes == least.changes
            d = problem.column("leaders")
            assert (solution.after[:, d] <= problem.band_high[:, d] + 1e-9).all()
            assert (solution.after[:, d] >= problem.band_low[:, d] - 1e-9).all()
    assert proven >= 5


def test_rates_are_evened_by_leaders_alone_to_a_hundredth() -> None:
    replicas, leader = piled_up(30, 10_000, 3)
    draw = np.random.default_rng(9)
    rate = draw.lognormal(0, 1.2, len(replicas))
    problem = assemble(
        Brokers(
            ids=np.arange(30), rack=(np.arange(30) % 3).astype(np.int32), is_new=np.zeros(30, dtype=np.bool_),
            **dict.fromkeys(("stays", "takes_replicas", "takes_leaders", "keeps_leaders"), np.ones(30, dtype=np.bool_)),
        ),
        Placement(
            replicas=replicas, leader=leader.astype(np.int32), topic=np.zeros(len(replicas), dtype=np.int32),
            loads=MeasuredLoads(in_bytes_per_s=rate, out_bytes_per_s=rate),
        ),
        Wanted(within=0.10, targets={"out": Target(0.99, 1.01)}, resources=("out", "leaders"), moves_replicas=False),
    )  # fmt: skip
    solution = solve(problem)
    assert not solution.is_cut_short  # it has no budget
    after = solution.after[:, 0]
    assert after.max() / after.mean() <= 1.01 + 1e-9
