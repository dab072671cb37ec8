"""AdminUtils: worked examples of its documentation (and of seed 003), shifts, racks, refusals."""

import numpy as np
import pytest

from kafka_assignors.java.seeded_random import java_random, next_int
from kafka_rebalance.placement.placers import (
    PlacementBroker,
    PlacementError,
    place_alternating,
    rack_alternated,
)

FIVE = [PlacementBroker(broker) for broker in range(5)]
SIX = [PlacementBroker(broker, f"rack{rack}") for broker, rack in enumerate((1, 3, 3, 2, 2, 1))]


def test_seed_003_table_of_five_brokers_and_ten_partitions() -> None:
    placed = place_alternating(FIVE, 10, 3, java_random(0), fixed_start_index=0)
    led_by = [[p for p in range(10) if placed[p, 0] == broker] for broker in range(5)]
    second = [[p for p in range(10) if placed[p, 1] == broker] for broker in range(5)]
    third = [[p for p in range(10) if placed[p, 2] == broker] for broker in range(5)]
    assert led_by == [[0, 5], [1, 6], [2, 7], [3, 8], [4, 9]]
    assert second == [[4, 8], [0, 9], [1, 5], [2, 6], [3, 7]]
    assert third == [[3, 7], [4, 8], [0, 9], [1, 5], [2, 6]]


def test_racks_alternate_as_documented() -> None:
    assert rack_alternated(SIX) == [0, 3, 1, 5, 4, 2]
    placed = place_alternating(SIX, 7, 3, java_random(0), fixed_start_index=0)
    assert placed.tolist() == [[0, 3, 1], [3, 1, 5], [1, 5, 4], [5, 4, 2], [4, 2, 0], [2, 0, 3], [0, 4, 2]]


def test_start_and_shift_are_drawn_in_this_order() -> None:
    random = java_random(7)
    start, shift = int(next_int(random, 5)), int(next_int(random, 5))
    placed = place_alternating(FIVE, 1, 2, java_random(7))
    assert placed.tolist() == [[start, (start + 1 + shift % 4) % 5]]


def test_a_first_partition_that_is_a_multiple_of_the_brokers_shifts_at_once() -> None:
    continued = place_alternating(FIVE, 2, 3, java_random(0), fixed_start_index=0, start_partition=5)
    assert continued.tolist() == [[0, 2, 3], [1, 3, 4]]


@pytest.mark.parametrize(
    ("brokers", "partitions", "replication_factor", "exception"),
    [
        (FIVE, 0, 1, "InvalidPartitionsException"),
        (FIVE, 1, 0, "InvalidReplicationFactorException"),
        (FIVE, 1, 6, "InvalidReplicationFactorException"),
        ([*FIVE, PlacementBroker(9, "rack1")], 1, 1, "AdminOperationException"),
    ],
)
def test_it_refuses_as_kafka_does(
    brokers: list[PlacementBroker], partitions: int, replication_factor: int, exception: str
) -> None:
    with pytest.raises(PlacementError) as refusal:
        place_alternating(brokers, partitions, replication_factor, java_random(0))
    assert refusal.value.java_class.endswith(exception)


def test_all_replicas_may_share_one_rack() -> None:
    placed = place_alternating([PlacementBroker(broker, "r") for broker in range(3)], 50, 3, java_random(3))
    assert np.sort(placed, axis=1).tolist() == [[0, 1, 2]] * 50
