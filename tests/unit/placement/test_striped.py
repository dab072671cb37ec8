import numpy as np
import pytest

from kafka_assignors.java.seeded_random import java_random
from kafka_rebalance.placement.placers import PlacementBroker, PlacementError, place_striped


def test_a_recorded_stripe_with_fenced_brokers() -> None:
    fenced = {11: False, 4: False, 10: True, 18: False, 8: True, 17: False, 9: True}
    brokers = [PlacementBroker(broker, None, is_fenced) for broker, is_fenced in fenced.items()]
    placed = place_striped(brokers, 6, 3, java_random(31759060511801))
    assert placed.tolist() == [[18, 4, 11], [4, 11, 17], [11, 17, 18], [17, 18, 4], [18, 17, 11], [17, 11, 4]]


def test_leaders_are_never_fenced_and_replicas_go_round_the_racks() -> None:
    brokers = [PlacementBroker(broker, f"rack{broker % 3}", is_fenced=broker >= 9) for broker in range(12)]
    placed = place_striped(brokers, 200, 3, java_random(5))
    assert placed[:, 0].max() < 9
    assert np.sort(placed % 3, axis=1).tolist() == [[0, 1, 2]] * 200


def test_leaders_are_even_over_whole_rounds() -> None:
    brokers = [PlacementBroker(broker, f"rack{broker % 2}") for broker in range(6)]
    placed = place_striped(brokers, 60, 2, java_random(1))
    assert np.bincount(placed[:, 0]).tolist() == [10] * 6


def test_brokers_without_rack_are_a_rack_of_their_own() -> None:
    brokers = [PlacementBroker(0), PlacementBroker(1), PlacementBroker(2, "a"), PlacementBroker(3, "a")]
    placed = place_striped(brokers, 40, 2, java_random(2))
    assert (np.isin(placed, (2, 3)).sum(axis=1) == 1).all()


def test_a_generator_moves_on_from_topic_to_topic() -> None:
    brokers = [PlacementBroker(broker) for broker in range(5)]
    random = java_random(9)
    first, second = (place_striped(brokers, 4, 2, random).tolist() for _ in range(2))
    assert first != second
    assert first == place_striped(brokers, 4, 2, java_random(9)).tolist()


def test_ten_thousand_partitions_hold_no_broker_twice() -> None:
    brokers = [PlacementBroker(broker, f"rack{broker % 7}", is_fenced=broker % 5 == 0) for broker in range(40)]
    placed = np.sort(place_striped(brokers, 10_000, 9, java_random(4)), axis=1)
    assert (np.diff(placed, axis=1) > 0).all()


@pytest.mark.parametrize(
    ("brokers", "replication_factor", "message"),
    [
        ([PlacementBroker(1)], 0, "must be positive"),
        ([PlacementBroker(1, is_fenced=True)], 1, "fenced"),
        ([PlacementBroker(1), PlacementBroker(2)], 3, "cannot be reached because only 2"),
        ([], 1, "fenced"),
    ],
)
def test_it_refuses_as_kafka_does(brokers: list[PlacementBroker], replication_factor: int, message: str) -> None:
    with pytest.raises(PlacementError, match=message) as refusal:
        place_striped(brokers, 1, replication_factor, java_random(0))
    assert refusal.value.java_class == "org.apache.kafka.common.errors.InvalidReplicationFactorException"
