"""One door to the timelines of all protocols."""

from __future__ import annotations

from collections.abc import Sequence

from kafka_rebalance.coordinator.classic_protocol import replay_classic
from kafka_rebalance.coordinator.consumer_protocol import replay_consumer
from kafka_rebalance.coordinator.timeline import Change, Protocol, Timeline, Times


def replay_rebalance(protocol: Protocol, change: Change, times: Times) -> Timeline:
    """Who stops reading which partition, from when to when, under ``protocol``."""
    return replay_chain(protocol, (change,), times)


def replay_chain(protocol: Protocol, changes: Sequence[Change], times: Times) -> Timeline:
    """The same for changes that follow each other, each beginning with what the one before it ends with."""
    if protocol is Protocol.CONSUMER:
        return replay_consumer(changes, times)
    return replay_classic(changes, times, is_cooperative=protocol is Protocol.COOPERATIVE)
