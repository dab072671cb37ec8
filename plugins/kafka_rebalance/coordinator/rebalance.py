"""One door to the timelines of all protocols."""

from __future__ import annotations

from kafka_rebalance.coordinator.classic_protocol import replay_classic
from kafka_rebalance.coordinator.consumer_protocol import replay_consumer
from kafka_rebalance.coordinator.timeline import Change, Protocol, Timeline, Times


def replay_rebalance(protocol: Protocol, change: Change, times: Times) -> Timeline:
    """Who stops reading which partition, from when to when, under ``protocol``."""
    if protocol is Protocol.CONSUMER:
        return replay_consumer(change, times)
    return replay_classic(change, times, is_cooperative=protocol is Protocol.COOPERATIVE)
