"""How many partitions of which topic each broker has to lead, and how many it lacks under given leaders."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_rebalance.arrays import NOBODY, Ints, Longs


@dataclass(frozen=True, slots=True, eq=False)
class LeaderDemand:
    """``need`` int64[T, B] leaders of each of T topics; ``of_partition`` int32[P] the topic's row in it, or NOBODY."""

    need: Longs
    of_partition: Ints

    def led(self, leader: Ints) -> Longs:
        """int64[T, B]: partitions that each broker leads; ``leader`` int32[P]. O(P + T·B)."""
        topics, brokers = self.need.shape
        counted = (self.of_partition != NOBODY) & (leader != NOBODY)
        cell = self.of_partition[counted].astype(np.int64) * brokers + leader[counted]
        return np.bincount(cell, minlength=topics * brokers).reshape(topics, brokers)

    def lacking_of(self, topic: int, leaders: Ints) -> Longs:
        """int64[B]: the same of one topic, whose partitions ``leaders`` int32[K] lead (NOBODY: nobody does)."""
        led = np.bincount(leaders[leaders != NOBODY], minlength=self.need.shape[1])
        return np.asarray(np.maximum(self.need[topic] - led, 0))

    def rows_by_topic(self) -> list[Longs]:
        """The partitions of each of the T topics. O(P log P)."""
        order = np.argsort(self.of_partition, kind="stable")
        first = np.searchsorted(self.of_partition[order], np.arange(len(self.need) + 1))
        return [order[first[topic] : first[topic + 1]] for topic in range(len(self.need))]

    def lacking(self, leader: Ints) -> Longs:
        """int64[T, B]: leaders that each broker has too few."""
        return np.asarray(np.maximum(self.need - self.led(leader), 0))
