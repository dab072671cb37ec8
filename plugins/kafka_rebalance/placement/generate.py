"""What ``kafka-reassign-partitions --generate`` proposes, before 4.1 and since.

Since 4.1 one StripedReplicaPlacer and one Random serve all topics of the run, before it was one call of AdminUtils a
topic. In both, topics come in the order of a HashMap filled by ``computeIfAbsent`` while walking the HashMap of present
partitions; a topic's replication factor is that of the partition met first; new replicas go to partitions 0 … count − 1
even if other ones were listed. What stands where today plays no part: nearly everything moves.

The tool itself refuses brokers of which only some have racks (``require_all_racks_or_none``), unless told
``--disable-rack-aware``, which takes all racks away.

Complexity: O(P log P) for P partitions listed, then that of the placer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from kafka_rebalance.arrays import Ints, Longs
from kafka_rebalance.java.hash_order import COMPUTE_IF_ABSENT, DEFAULT_CAPACITY, order_after, put_order
from kafka_rebalance.java.keys import topic_partition_hashes
from kafka_rebalance.java.seeded_random import State
from kafka_rebalance.java.strings import hash_codes
from kafka_rebalance.placement.brokers import PlacementBroker
from kafka_rebalance.placement.rack_alternating import place_alternating
from kafka_rebalance.placement.striped import place_striped
from kafka_rebalance.string_column import StringColumn

Placer = Callable[[Sequence[PlacementBroker], int, int, State], Ints]


@dataclass(frozen=True, slots=True, eq=False)
class ListedPartitions:
    """N partitions as the tool read them: ``topics`` and ``partitions`` int32[N] (index into names, partition id),
    ``replica_counts`` int32[N], each partition once, in the order in which they were described.
    """

    names: StringColumn
    topics: Ints
    partitions: Ints
    replica_counts: Ints


@dataclass(frozen=True, slots=True, eq=False)
class TopicProposal:
    """``replicas`` int32[count, rf] for partitions 0 … count − 1; ``first_partition`` decided the rf."""

    topic: int
    first_partition: int
    replicas: Ints


def propose_striped(brokers: Sequence[PlacementBroker], listed: ListedPartitions, random: State) -> list[TopicProposal]:
    """``--generate`` of Kafka 4.1 and later, topics in Java's order. Raises PlacementError."""
    return _propose(brokers, listed, random, place_striped)


def propose_alternating(
    brokers: Sequence[PlacementBroker], listed: ListedPartitions, random: State
) -> list[TopicProposal]:
    """``--generate`` before 4.1, topics in Java's order. Raises PlacementError."""
    return _propose(brokers, listed, random, place_alternating)


def _propose(
    brokers: Sequence[PlacementBroker], listed: ListedPartitions, random: State, place: Placer
) -> list[TopicProposal]:
    proposals = []
    for topic, rows in _topics_in_order(listed):
        replication_factor = int(listed.replica_counts[rows[0]])
        replicas = place(brokers, len(rows), replication_factor, random)
        proposals.append(TopicProposal(topic, int(listed.partitions[rows[0]]), replicas))
    return proposals


def _topics_in_order(listed: ListedPartitions) -> list[tuple[int, Longs]]:
    """Topics as the tool walks them, each with its rows in the order of the map of partitions."""
    name_hashes = hash_codes(listed.names.data, listed.names.offsets)
    visit_order = put_order(topic_partition_hashes(name_hashes[listed.topics], listed.partitions), DEFAULT_CAPACITY)
    topics = listed.topics[visit_order]
    steps = np.full(len(topics), COMPUTE_IF_ABSENT, np.int8)
    by_topic = np.argsort(topics, kind="stable")
    bounds = np.searchsorted(topics[by_topic], np.arange(len(listed.names) + 1))
    return [
        (int(topic), visit_order[by_topic[bounds[topic] : bounds[topic + 1]]])
        for topic in order_after(name_hashes, steps, topics, DEFAULT_CAPACITY)
    ]
