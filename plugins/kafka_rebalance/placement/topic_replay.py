"""Kafka's placer replayed on a topic: evenness if it were created today, and the cost of the change.

Kafka draws a random start for each topic, so several seeds are replayed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from kafka_assignors.arrays import ABSENT, Ints
from kafka_assignors.java.seeded_random import java_random
from kafka_rebalance.facts import Fact, FactCode, fact, refusal_of
from kafka_rebalance.placement.placers import (
    PlacementBroker,
    PlacementError,
    StripedField,
    place_on_field,
    striped_field,
)
from kafka_rebalance.scoring.placement_scores import CURRENT, BrokerField, TopicPlacement, broker_field, score_placement
from kafka_rebalance.scoring.scores import TopicPlacementScore
from kafka_rebalance.snapshot.figures import LoadKind
from kafka_rebalance.snapshot.model import BrokerState, ClusterSnapshot

STRIPED = "striped"
SEEDS = 20


@dataclass(frozen=True, slots=True)
class TopicReplay:
    """``scores``: today's placement, then one a seed. ``error``: the placer's refusal."""

    topic: str
    scores: tuple[TopicPlacementScore, ...]
    error: Fact | None = None

    @property
    def current(self) -> TopicPlacementScore:
        return self.scores[0]

    @property
    def placed(self) -> tuple[TopicPlacementScore, ...]:
        return self.scores[1:]

    @property
    def median_replica_skew(self) -> float | None:
        return float(np.median([placement.replica_skew for placement in self.placed])) if self.placed else None


@dataclass(frozen=True, slots=True, eq=False)
class PlacementGround:
    """Shared by all topics."""

    field: BrokerField
    stripes: StripedField | None


def placement_ground(brokers: Sequence[PlacementBroker]) -> PlacementGround:
    field = broker_field({broker.id: broker.rack for broker in brokers})
    return PlacementGround(field, striped_field(brokers) if brokers else None)


def replay_topic(today: TopicPlacement, ground: PlacementGround, seeds: Sequence[int] = range(SEEDS)) -> TopicReplay:
    """Return scores; as in Kafka, the first partition's number of replicas is the replication factor."""
    field, stripes = ground.field, ground.stripes
    scores = [score_placement(today, today, field, CURRENT, 0)]
    if stripes is None:
        return TopicReplay(today.topic, (scores[0],), fact(FactCode.NO_BROKER_TO_PLACE_ON))
    factor = int((today.replicas[0] != ABSENT).sum()) if len(today.replicas) else 0
    try:
        for seed in seeds:
            replicas: Ints = place_on_field(stripes, len(today.replicas), factor, java_random(seed))
            placed = TopicPlacement(today.topic, replicas, replicas[:, 0], today.log_bytes)
            scores.append(score_placement(today, placed, field, STRIPED, int(seed)))
    except PlacementError as error:
        return TopicReplay(today.topic, (scores[0],), refusal_of(error))
    return TopicReplay(today.topic, tuple(scores))


def placement_brokers(snapshot: ClusterSnapshot) -> tuple[PlacementBroker, ...]:
    """Brokers that Kafka offers its placer: registered, not leaving, not cordoned."""
    return tuple(
        PlacementBroker(broker.id, broker.rack, is_fenced=broker.state is BrokerState.FENCED)
        for broker in sorted(snapshot.brokers, key=lambda broker: broker.id)
        if broker.state not in (BrokerState.DEAD, BrokerState.DRAINING) and not broker.is_cordoned
    )


def topic_placements(snapshot: ClusterSnapshot) -> Iterator[TopicPlacement]:
    """Placements without empty topics."""
    table = snapshot.partitions
    log_bytes = snapshot.load(LoadKind.LOG_BYTES)
    counts = table.replica_counts
    column = np.arange(len(table.replicas)) - np.repeat(table.offsets[:-1], counts)
    padded = np.full((len(table), int(counts.max(initial=1))), ABSENT, dtype=np.int32)
    padded[table.row_of_replica, column] = table.replicas
    begins = np.searchsorted(table.topic, np.arange(len(snapshot.topics) + 1))
    for number, topic in enumerate(snapshot.topics):
        rows = slice(int(begins[number]), int(begins[number + 1]))
        if rows.start < rows.stop:
            yield TopicPlacement(topic.name, padded[rows], table.leader[rows], log_bytes[rows])
