"""Who takes a replica: brokers with 1.5, 1.0 and 0.5 of the mean, bands 0.9..1.1."""

import numpy as np
import pytest

from kafka_rebalance.planner.replicas import kernels
from tests.unit.planner.hand_problems import ALL_BROKERS, THREE, hand_problem, hand_state

# Partition 1 has 4 GB: 0.4 of the mean.
WEIGHT = np.array([0.4])


def test_alignment_is_the_cosine() -> None:
    assert kernels.alignment(np.array([3.0, 4.0]), np.array([6.0, 8.0])) == pytest.approx(1.0)
    assert kernels.alignment(np.array([1.0, 0.0]), np.array([0.0, 1.0])) == pytest.approx(0.0)
    assert kernels.alignment(np.array([1.0, 1.0]), np.array([1.0, 0.0])) == pytest.approx(np.sqrt(0.5))


def test_the_useful_part_looks_at_lacking_resources_only() -> None:
    assert kernels.useful_part(np.array([2.0, 9.0]), np.array([1.0, 0.0])) == pytest.approx(0.5)
    assert kernels.useful_part(np.array([1.0, 9.0]), np.array([1.0, 0.0])) == pytest.approx(1.0)


def test_service_of_a_broker_below_its_band() -> None:
    state = hand_state(hand_problem(THREE, 3))
    need = np.empty(1)
    # Broker 2 lacks 0.4. 0.5 of it are useful for 4/5, 0.4 wholly; 0.8 ends at 1.3: half of the relief is lost.
    assert kernels.service(state, 2, np.array([0.5]), need) == pytest.approx(0.8)
    assert need == pytest.approx([0.4])
    assert kernels.service(state, 2, WEIGHT, need) == pytest.approx(1.0)
    assert kernels.service(state, 2, np.array([0.8]), need) == pytest.approx(0.5 * 0.5)
    assert kernels.service(state, 1, WEIGHT, need) == 0.0  # lacks nothing


def test_brokers_that_lack_load() -> None:
    state = hand_state(hand_problem(THREE, 3))
    assert kernels.brokers_lacking(state, ALL_BROKERS).tolist() == [2]
    assert kernels.brokers_lacking(state, ALL_BROKERS[:2]).tolist() == []


def test_the_lacking_broker_takes_it_where_it_is_served_well_enough() -> None:
    state = hand_state(hand_problem(THREE, 3))
    need, lacking = np.empty(1), np.array([2], dtype=np.int32)
    # Served to 1.0; the topic has 6 replicas, 2 a broker, 3 on broker 0: one too many less is worth 0.1.
    assert kernels.lacking_receiver(state, 1, 0, WEIGHT, lacking, need, 1.05) == 2
    assert kernels.lacking_receiver(state, 1, 0, WEIGHT, lacking, need, 1.15) == -1
    assert kernels.lacking_receiver(state, 2, 0, WEIGHT, lacking, need, 0.0) == -1  # holds partition 2 already


def test_room_is_scored_by_relief_room_and_topic() -> None:
    state = hand_state(hand_problem(THREE, 3))
    # Broker 2: 1 - 0.5/1.1 of room, all 0.4 are relief, and broker 0 has one of the topic too many.
    expected = 1 - 0.5 / 1.1 + 1.0 + state.params.receivers.topic_weight
    assert kernels.capacity_score(state, 1, 0, 2, WEIGHT, 0.0, -1e299) == pytest.approx(expected)
    five = np.array([0.5])  # partition 2 to broker 1: 1.0 → 1.5 is 0.4 outside
    assert kernels.capacity_score(state, 2, 0, 1, five, 0.0, -1e299) == -1e300
    # Allowed to go outside; on broker 1 the topic would have 3 of 2, on broker 0 no longer: no difference.
    assert kernels.capacity_score(state, 2, 0, 1, five, 1.0, -1e299) == pytest.approx(1 - 1.0 / 1.1 - 0.8)


def test_the_roomiest_receiver_is_neither_source_nor_holder() -> None:
    state = hand_state(hand_problem(THREE, 3))
    assert kernels.roomy_receiver(state, 1, 0, WEIGHT, ALL_BROKERS, 0.0, 20) == 2
    assert kernels.roomy_receiver(state, 1, 0, WEIGHT, ALL_BROKERS[:2], 0.0, 20) == -1


def test_a_replica_that_must_leave_goes_to_the_rack_with_the_fewest_others() -> None:
    problem = hand_problem([((0, 2), 6.0), ((1, 3), 4.0)], 4, racks=[0, 0, 1, 1], leaving=[0])
    state = hand_state(problem)
    assert kernels.rack_limit(state, 0, 0, 0) == 0  # nothing else of it in rack 0
    assert kernels.rack_limit(state, 1, 0, 1) == -1  # may stay
    candidates = np.array([1, 2, 3], dtype=np.int32)
    assert kernels.roomy_receiver(state, 0, 0, np.array([0.4]), candidates, 1e300, 20) == 1  # 3 is in the rack of 2
