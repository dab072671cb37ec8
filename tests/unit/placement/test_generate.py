import numpy as np

from kafka_assignors.java.seeded_random import java_random
from kafka_assignors.string_column import StringColumn
from kafka_rebalance.placement.placers import (
    ListedPartitions,
    PlacementBroker,
    place_striped,
    propose_striped,
)

BROKERS = [PlacementBroker(broker) for broker in (4, 5, 9)]


def listed(*rows: tuple[str, int, int]) -> ListedPartitions:
    names = list(dict.fromkeys(topic for topic, _, _ in rows))
    columns = np.array([(names.index(topic), partition, replicas) for topic, partition, replicas in rows], np.int32)
    return ListedPartitions(StringColumn.of(names), columns[:, 0], columns[:, 1], columns[:, 2])


def test_topics_share_one_generator_in_the_order_of_javas_maps() -> None:
    present = listed(("93", 3, 1), ("80", 1, 1), ("93", 0, 1), ("80", 0, 1))
    first, second = propose_striped(BROKERS, present, java_random(3))
    assert [present.names[row.topic] for row in (first, second)] == ["80", "93"]
    random = java_random(3)
    expected = [place_striped(BROKERS, 2, 1, random).tolist() for _ in range(2)]
    assert [first.replicas.tolist(), second.replicas.tolist()] == expected


def test_the_partition_met_first_decides_the_replication_factor() -> None:
    (proposal,) = propose_striped(BROKERS, listed(("t", 7, 3), ("t", 0, 1), ("t", 5, 2)), java_random(1))
    assert proposal.replicas.shape == (3, {7: 3, 0: 1, 5: 2}[proposal.first_partition])
