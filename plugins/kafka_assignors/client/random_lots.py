"""Seed article 001's custom assignor: a random subscriber owns each partition. O(S + P).

Promise: every partition of a topic with subscribers has exactly one owner, who subscribes to it. Topics without
metadata are skipped; a topic listed twice gives two lots. The article's generator is unseeded; here ``request.seed``
seeds one ``java.util.Random``, used in the order of the article's HashSet.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_assignors.arrays import ABSENT, Ints, Longs
from kafka_assignors.contract import Assignment, AssignmentRequest
from kafka_assignors.java.hash_order import DEFAULT_CAPACITY, put_order
from kafka_assignors.java.keys import topic_partition_hashes
from kafka_assignors.java.seeded_random import State, java_random, next_int
from kafka_assignors.java.strings import hash_codes
from kafka_assignors.kernels import kernel
from kafka_assignors.orders import member_walk
from kafka_assignors.owned_lists import lists_by_owner


@dataclass(frozen=True, slots=True)
class RandomAssignor:
    name: str = "random"
    versions: str = "seed article 001"

    def assign(self, request: AssignmentRequest) -> Assignment:
        topics, members = request.topics, request.members
        starts, lots = _lots(
            member_walk(request), members.subscription_offsets, members.subscription_topics, len(topics)
        )
        counts = np.where(np.diff(starts) > 0, np.maximum(topics.partition_counts, 0), 0)
        drawn_topics = np.repeat(np.arange(len(topics)), counts)
        partitions = (np.arange(len(drawn_topics)) - np.repeat(np.cumsum(counts) - counts, counts)).astype(np.int32)
        names = hash_codes(topics.names.data, topics.names.offsets)
        order = put_order(topic_partition_hashes(names[drawn_topics], partitions), DEFAULT_CAPACITY)
        rows = topics.first_row[drawn_topics] + partitions
        owners = np.full(topics.partition_total, ABSENT, np.int32)
        owners[rows[order]] = _draw(java_random(request.seed), drawn_topics[order], starts, lots)
        walk = np.flatnonzero(counts)
        return Assignment.of(*lists_by_owner(owners, topics.first_row, walk, len(members)))


@kernel
def _lots(order: Longs, offsets: Longs, subscribed: Ints, topic_count: int) -> tuple[Longs, Ints]:
    starts = np.zeros(topic_count + 1, np.int64)
    for topic in subscribed:
        starts[topic + 1] += 1
    for topic in range(topic_count):
        starts[topic + 1] += starts[topic]
    lots = np.empty(starts[-1], np.int32)
    filled = starts[:-1].copy()
    for member in order:
        for k in range(offsets[member], offsets[member + 1]):
            lots[filled[subscribed[k]]] = member
            filled[subscribed[k]] += 1
    return starts, lots


@kernel
def _draw(random: State, topics: Longs, starts: Longs, lots: Ints) -> Ints:
    owners = np.empty(len(topics), np.int32)
    for i in range(len(topics)):
        start, end = starts[topics[i]], starts[topics[i] + 1]
        owners[i] = lots[start + next_int(random, end - start)]
    return owners
