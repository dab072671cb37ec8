"""The smallest steps of the search on three brokers with 15, 10 and 5 GB (1.5, 1.0, 0.5 of the mean)."""

import numpy as np
import pytest

from kafka_rebalance.planner.replicas import kernels
from tests.unit.planner.hand_problems import THREE, hand_problem, hand_state

# Six replicas of 30 GB on three brokers: a copy of 6 GB costs 6/10 of a broker's mean, and 0.005 · 3/6 for the move.
COST_OF_SIX = 0.6025


def test_draws_are_xorshift64() -> None:
    state = hand_state(hand_problem(THREE, 3))
    x, expected = 88172645463325253, []
    for _ in range(20):
        x ^= (x << 13) % 2**64
        x ^= x >> 7
        x ^= (x << 17) % 2**64
        expected.append((x >> 33) % 10)
    assert [kernels.draw(state, 10) for _ in range(20)] == expected


def test_distances_from_the_band() -> None:
    state = hand_state(hand_problem(THREE, 3))  # 0.9..1.1
    assert [kernels.above(state, b) for b in range(3)] == pytest.approx([0.4, 0, 0])
    assert [kernels.below(state, b) for b in range(3)] == pytest.approx([0, 0, 0.4])
    assert [kernels.outside(state, b) for b in range(3)] == pytest.approx([0.4, 0, 0.4])


def test_relief_is_what_comes_nearer_less_what_goes_too_far() -> None:
    state = hand_state(hand_problem(THREE, 3))
    half, whole = np.array([0.5]), np.array([1.0])
    assert kernels.band_improvement(state, 0, half, -1.0) == pytest.approx(0.4)  # 1.5 → 1.0: inside
    assert kernels.band_improvement(state, 0, whole, -1.0) == pytest.approx(
        0.0
    )  # 1.5 → 0.5: as far below as it was above
    assert kernels.band_improvement(state, 1, half, -1.0) == pytest.approx(-0.4)  # 1.0 → 0.5
    assert kernels.band_improvement(state, 2, half, 1.0) == pytest.approx(0.4)
    assert kernels.band_improvement(state, 2, whole, 1.0) == pytest.approx(0.0)  # 0.5 → 1.5


def test_a_copy_costs_and_a_return_home_gives_back() -> None:
    state = hand_state(hand_problem(THREE, 3))
    assert state.cost[0] == pytest.approx(COST_OF_SIX)
    assert kernels.copies_needed(state, 0, 0, 2) == pytest.approx(COST_OF_SIX)
    assert kernels.copies_needed(state, 0, 2, 0) == pytest.approx(-COST_OF_SIX)
    assert kernels.copies_needed(state, 0, 0, 1) == 0
    assert kernels.is_original(state, 0, 1)
    assert not kernels.is_original(state, 0, 2)


def test_who_may_hold_a_replica() -> None:
    state = hand_state(hand_problem(THREE, 3))
    assert kernels.may_hold(state, 0, 0, 2)
    assert not kernels.may_hold(state, 0, 0, 1)  # holds the other replica
    assert kernels.may_hold(state, 0, 1, 1)  # its own place
    closed = hand_state(hand_problem(THREE, 3, no_receivers=[2]))
    assert not kernels.may_hold(closed, 0, 0, 2)
    barred = hand_state(hand_problem(THREE, 3))
    barred.original[0, 0] = -2 - 2  # today's replica on broker 2 lies in an offline dir
    assert not kernels.may_hold(barred, 0, 0, 2)


def test_a_list_that_is_full_takes_no_more() -> None:
    state = hand_state(hand_problem(THREE, 3))
    places = int(state.start[3] - state.start[2])
    state.filled[2] = places - 1
    assert kernels.may_hold(state, 0, 0, 2)
    state.filled[2] = places
    assert not kernels.may_hold(state, 0, 0, 2)


def test_an_only_replica_goes_to_who_may_lead() -> None:
    state = hand_state(hand_problem([((0,), 6.0), ((1,), 4.0)], 3))
    assert kernels.may_hold(state, 0, 0, 2)
    state.leads[2] = False
    assert not kernels.may_hold(state, 0, 0, 2)


def test_racks_stay_as_even_as_they_are() -> None:
    state = hand_state(hand_problem(THREE, 3, racks=[0, 0, 1]))
    assert kernels.keeps_racks_even(state, 0, 0, 2)  # both in rack 0: one of them may leave
    assert not kernels.keeps_racks_even(state, 2, 1, 1)  # one in each: not two in rack 0
    assert kernels.keeps_racks_even(state, 2, 0, 1)  # within the rack


def test_the_rack_with_the_fewest_others() -> None:
    state = hand_state(hand_problem([((0, 2), 6.0), ((1, 3), 4.0)], 4, racks=[0, 0, 1, 1]))
    assert [kernels.rack_share(state, 0, 0, rack) for rack in (0, 1)] == [0, 1]
    assert kernels.fewest_in_rack(state, 0, 0) == 0
    # Broker 0 is all of its rack and holds one: a third will be in the other rack, which holds two.
    full = hand_state(hand_problem([((0, 1, 2, 3), 6.0)], 5, racks=[0, 1, 1, 1, 1]))
    assert kernels.fewest_in_rack(full, 0, 3) == 2
    state.receivers_in_rack[0, 0] = 0  # nobody takes anything there: two in rack 1 it will be
    assert kernels.fewest_in_rack(state, 0, 0) == 1


def test_capacity_counts_both_copies_while_they_exist() -> None:
    state = hand_state(hand_problem(THREE, 3, disk_limit=[100.0, 100.0, 11.0]))
    weight = np.empty(1)
    kernels.replica_load(state, 0, 0, 0, weight)
    assert weight == pytest.approx([0.6])
    assert kernels.fits_limit(state, 0, 2, weight)  # 5 + 6 = 11
    kernels.move(state, 2, 1, 1, weight)  # 5 GB leave broker 2, but not before they are copied
    kernels.replica_load(state, 0, 0, 0, weight)
    assert state.peak * 10 == pytest.approx([15, 15, 5, 0])
    kernels.move(state, 0, 0, 2, weight)
    kernels.replica_load(state, 1, 0, 0, weight)
    assert not kernels.fits_limit(state, 1, 2, weight)  # 5 + 6 + 4 while the 5 are still there


def test_a_move_changes_loads_lists_and_placement_and_back_again() -> None:
    state = hand_state(hand_problem(THREE, 3))
    weight = np.empty(1)
    kernels.move(state, 1, 0, 2, weight)
    assert state.load[:, 0] == pytest.approx([1.1, 1.0, 0.9, 0])
    assert state.replicas.tolist() == [[0, 1], [2, 1], [0, 2]]
    assert state.filled.tolist() == [2, 2, 2, 0]
    held = state.items[state.start[2] : state.start[2] + 2]
    assert sorted(held.tolist()) == [2, 5]  # slot 0 of partition 1, slot 1 of partition 2
    assert all(state.items[state.position[replica_index]] == replica_index for replica_index in range(6))
    kernels.move(state, 1, 0, 0, weight)
    assert state.load[:, 0] == pytest.approx([1.5, 1.0, 0.5, 0])
    assert state.filled.tolist() == [3, 2, 1, 0]
