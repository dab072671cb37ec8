from __future__ import annotations

import numpy as np
import pytest

from kafka_rebalance.cluster_arrays.bands import even_spread, fair_shares, within_what_brokers_hold
from kafka_rebalance.verify.loads import filled, pieces_of
from tests.unit.cluster_arrays.exact_shares import EvenLevels


def shares_of(rack, capacity, factor, follower, leader, may_lead=None):
    count = len(rack)
    return fair_shares(
        rack=np.array(rack, dtype=np.int32), capacity=np.array(capacity)[:, None],
        may_carry=np.ones((count, 1), dtype=np.bool_),
        may_lead=np.ones(count, dtype=np.bool_) if may_lead is None else np.array(may_lead),
        target_rf=np.array(factor, dtype=np.int32), follower_load=np.array(follower)[:, None],
        leader_extra=np.array(leader)[:, None],
    )[:, 0]  # fmt: skip


def hold(seeds: range) -> int:
    """Random racks, capacities, replication factors and loads against linear programs; how many brokers were full."""
    full = 0
    for seed in seeds:
        draw = np.random.default_rng(seed)
        count = int(draw.integers(1, 7))
        rack = np.unique(draw.integers(0, int(draw.integers(1, 5)), count), return_inverse=True)[1]
        partitions = int(draw.integers(1, 6))
        factor = draw.integers(1, min(count, 4) + 1, partitions)
        weight = draw.lognormal(0, 1, partitions)
        capacity = draw.lognormal(0, float(draw.choice([0, 0.5, 1.5])), count)
        exact = EvenLevels(rack, capacity, factor, weight).shares()
        result = shares_of(rack, capacity, factor, weight, np.zeros(partitions))
        assert result == pytest.approx(exact, rel=1e-4, abs=1e-5), seed
        assert result.sum() == pytest.approx(float((weight * factor).sum()))
        full += int((result > weight.sum() * (1 - 1e-9)).sum())
        assert (result <= weight.sum() * (1 + 1e-9)).all()  # one replica of each partition at most
    return full


def test_shares_are_the_most_even_that_can_be_met() -> None:
    assert hold(range(40)) > 20


@pytest.mark.matrix
@pytest.mark.slow
def test_shares_of_five_hundred_clusters_are_the_most_even_that_can_be_met() -> None:
    assert hold(range(40, 540)) > 200


def test_one_large_disk_in_a_rack_holds_each_partition_once() -> None:
    """60 GB in two replicas; 10 : 1 : 1 would ask 50, 5 and 5 of disks that can hold 30 each."""
    assert shares_of([0, 0, 0], [10.0, 1.0, 1.0], [2] * 30, [1.0] * 30, [0.0] * 30) == pytest.approx([30, 15, 15])
    rack, load = np.zeros(3, dtype=np.int64), np.array([0.0, 0.0, 30.0])
    capacity = np.array([10.0, 1.0, 1.0])
    asked = np.array([50.0, 5.0, 5.0])
    assert within_what_brokers_hold(asked, rack, capacity, load) == pytest.approx([30, 15, 15])
    assert filled(asked, capacity, rack, pieces_of(rack, {2: 30.0})) == pytest.approx([30, 15, 15])
    fits = np.array([20.0, 20.0, 20.0])
    assert within_what_brokers_hold(fits, rack, capacity, load) is fits


def test_cpu_counts_the_leaders_that_the_share_of_leaders_counts() -> None:
    """Racks of 1, 4 and 7 brokers, RF 3: the first broker has all 84 partitions (cost 1), 7 as leader (3 more)."""
    rack = [0] + [1] * 4 + [2] * 7
    ones, threes, nothing = [1.0] * 84, [3.0] * 84, [0.0] * 84
    level = np.ones(12)
    assert shares_of(rack, level, [3] * 84, nothing, ones) == pytest.approx([7.0] * 12)
    assert shares_of(rack, level, [3] * 84, ones, nothing) == pytest.approx([84.0] + [21.0] * 4 + [12.0] * 7)
    assert shares_of(rack, level, [3] * 84, ones, threes) == pytest.approx([105.0] + [42.0] * 4 + [33.0] * 7)
    first_only = [True] + [False] * 11
    assert shares_of(rack, level, [3] * 84, ones, threes, first_only) == pytest.approx(
        [84 + 252.0] + [21.0] * 4 + [12.0] * 7
    )


def test_an_even_spread_is_that_of_one_replica_a_rack_in_turn() -> None:
    assert even_spread(3, np.array([1, 4, 7]))[0].tolist() == [1, 1, 1]
    draw = np.random.default_rng(2)
    for _ in range(200):
        size = draw.integers(1, 5, int(draw.integers(1, 6)))
        wanted = int(draw.integers(1, size.sum() + 1))
        held, odd = even_spread(wanted, size)
        in_turn = np.zeros(len(size), dtype=np.int64)
        for _ in range(wanted):
            in_turn[np.where(in_turn < size, in_turn, 99).argmin()] += 1
        assert held.sum() + odd == wanted
        assert np.sort(in_turn - held).tolist() == [0] * (len(size) - odd) + [1] * odd
