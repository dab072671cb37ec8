"""Which brokers each partition's replicas may be on, where topics are confined to some.

Example: topics ``pay-.*`` on brokers 1, 2, 3 and all others anywhere: two sets, and the partitions of ``pay-.*`` are of
the second one. A topic that several rules match may be on the brokers that all of them name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kafka_rebalance.arrays import Flags, Ints, Longs
from kafka_rebalance.options.topic_brokers import TopicBrokers
from kafka_rebalance.snapshot.model import Broker


@dataclass(frozen=True, slots=True, eq=False)
class BrokerSets:
    """``of_partition`` int32[P]: a row of ``brokers`` bool[S, B], of which row 0 holds all brokers: anywhere."""

    of_partition: Ints
    brokers: Flags

    @property
    def is_confined(self) -> Flags:
        """bool[P]: may be on some brokers alone."""
        return np.asarray(self.of_partition > 0)

    def taken(self, rows: Longs) -> BrokerSets:
        """Those of the partitions ``rows``."""
        return BrokerSets(self.of_partition[rows], self.brokers)

    def outside(self, replicas: Ints) -> Flags:
        """bool[P, W]: replicas on brokers that their partition may not be on."""
        there = replicas >= 0
        return np.asarray(there & ~self.brokers[self.of_partition[:, None], np.where(there, replicas, 0)])

    def racks_open(self, rack: Ints, takes: Flags) -> Longs:
        """int64[P]: racks with a broker of ``takes`` bool[B] that the partition may be on; ``rack`` int[B] distinct."""
        counts = [len(np.unique(rack[takes & may])) for may in self.brokers]
        return np.asarray(np.array(counts, dtype=np.int64)[self.of_partition])

    def rack_sizes(self, rack: Ints, stays: Flags) -> Longs:
        """int64[S, K]: brokers of each set that stay, by rack."""
        racks = int(rack.max(initial=0)) + 1
        return np.stack([np.bincount(rack[stays & may], minlength=racks) for may in self.brokers]).astype(np.int64)


def everywhere(partitions: int, brokers: int) -> BrokerSets:
    """No partition is confined."""
    return BrokerSets(np.zeros(partitions, dtype=np.int32), np.ones((1, brokers), dtype=np.bool_))


def broker_sets_of(
    rules: Sequence[TopicBrokers], names: Sequence[str], topic: Longs, brokers: Sequence[Broker]
) -> BrokerSets | None:
    """Sets of the topics ``names``, for partitions of ``topic`` int[P], -1: left alone, wherever it is; None without
    rules. O(topics · rules · B).
    """
    if not rules:
        return None
    sets: dict[tuple[bool, ...], int] = {tuple(True for _ in brokers): 0}
    of_topic = np.zeros(len(names) + 1, dtype=np.int32)  # the last one is of what is left alone
    for number, name in enumerate(names):
        mine = [rule for rule in rules if rule.covers(name)]
        may = tuple(all(rule.allows(broker.id, broker.rack) for rule in mine) for broker in brokers)
        # Who is confined to all there are is not confined.
        of_topic[number] = sets.setdefault(may, len(sets))
    return BrokerSets(np.asarray(of_topic[topic], dtype=np.int32), np.array(list(sets), dtype=np.bool_))
