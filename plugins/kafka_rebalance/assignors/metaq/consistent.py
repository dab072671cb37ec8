"""MetaQ's consistent-hash strategy: consumers as 160 points each on a ring, a partition goes to the next point.

Promises: every partition has one consumer; a consumer that comes or goes moves only partitions to or from itself.
Not promised: balance. The topic plays no part: partition ``0-3`` of every topic goes to the same consumer.

Points are MD5 of ``consumer-0`` … ``consumer-39``, four little-endian words each; where two consumers share a point the
later one in the list has it. A partition's hash is the first word of MD5 of its name; its owner has the first point at
or after it, round the ring. Kafka's partition p stands here for MetaQ's ``0-p``.

Stands for Metamorphosis 1.4 (``ConsisHashStrategy``, KETAMA). Example: consumer a alone gets everything.

Complexity: O(M log M + n log M) hashes and look-ups.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kafka_rebalance.arrays import NOBODY, Ints, Longs
from kafka_rebalance.assignors.assignment import Assignment
from kafka_rebalance.assignors.metaq.default import partition_names
from kafka_rebalance.assignors.metaq.hashes import bytes_of, ketama
from kafka_rebalance.assignors.orders import by_member_id
from kafka_rebalance.assignors.owned_lists import lists_by_owner
from kafka_rebalance.assignors.ranges import subscriber_counts
from kafka_rebalance.assignors.request import AssignmentRequest
from kafka_rebalance.errors import AssignorError
from kafka_rebalance.java.hash_order import DEFAULT_CAPACITY, put_order
from kafka_rebalance.java.strings import hash_codes
from kafka_rebalance.string_column import StringColumn

_REPLICAS = 40


@dataclass(frozen=True, slots=True, eq=False)
class Ring:
    """``points`` uint32[R], ascending, and the consumer (place in the list) that has each: int32[R]."""

    points: npt.NDArray[np.uint32]
    consumers: Ints

    @classmethod
    def of(cls, consumers: Iterable[str]) -> Ring:
        """160 points a consumer; of equal points the last consumer's stays."""
        digests = [
            hashlib.md5(bytes_of(f"{consumer}-{i}"), usedforsecurity=False).digest()
            for consumer in consumers
            for i in range(_REPLICAS)
        ]
        words = np.frombuffer(b"".join(digests), "<u4")
        owners = np.repeat(np.arange(len(words) // (4 * _REPLICAS), dtype=np.int32), 4 * _REPLICAS)
        points, from_the_end = np.unique(words[::-1], return_index=True)
        return cls(points, owners[::-1][from_the_end])

    def owners_of(self, partitions: Sequence[str]) -> Ints:
        """The consumer of each partition, as a place in the list of consumers."""
        hashes = np.array([ketama(partition) for partition in partitions], np.uint32)
        return self.consumers[np.searchsorted(self.points, hashes) % len(self.points)]


def consistent_shares(consumers: Sequence[str], partitions: Sequence[str]) -> dict[str, list[str]]:
    """Each consumer's partitions, in the order of the HashSet in which MetaQ collects them.

    Raises AssignorError (NoSuchElementException) where there are partitions, but nobody consumes.
    """
    shares: dict[str, list[str]] = {consumer: [] for consumer in consumers}
    if partitions and not consumers:
        raise AssignorError("java.util.NoSuchElementException")
    if not partitions:
        return shares
    for partition, owner in zip(partitions, Ring.of(consumers).owners_of(partitions).tolist(), strict=True):
        shares[consumers[owner]].append(partition)
    return {consumer: _in_set_order(share) for consumer, share in shares.items()}


def _in_set_order(strings: list[str]) -> list[str]:
    column = StringColumn.of(dict.fromkeys(strings))
    return [column[i] for i in put_order(hash_codes(column.data, column.offsets), DEFAULT_CAPACITY)]


@dataclass(frozen=True, slots=True)
class MetaqConsistentAssignor:
    """``com.taobao.metamorphosis.client.consumer.ConsisHashStrategy``, each topic among its subscribers."""

    name: str = "metaq-consistent"
    versions: str = "Metamorphosis 1.4"

    def assign(self, request: AssignmentRequest) -> Assignment:
        """Topics without metadata or subscribers are passed over."""
        members, topics = request.members, request.topics
        offsets, subscribed = members.subscription_offsets, members.subscription_topics
        owners = np.full(topics.partition_total, NOBODY, np.int32)
        readers_of = _readers(by_member_id(members), offsets, subscribed, len(topics))
        names = partition_names(max(0, int(topics.partition_counts.max(initial=0)))).strings
        rings: dict[bytes, Ring] = {}
        for topic, readers in enumerate(readers_of):
            count = int(topics.partition_counts[topic])
            if count > 0 and len(readers):
                key = readers.tobytes()
                ring = rings.get(key) or rings.setdefault(key, Ring.of(members.ids[i] for i in readers.tolist()))
                start = int(topics.first_row[topic])
                owners[start : start + count] = readers[ring.owners_of(names[:count])]
        walk = np.flatnonzero(subscriber_counts(offsets, subscribed, len(topics), True))
        return Assignment.of(*lists_by_owner(owners, topics.first_row, walk, len(members)))


def _readers(order: Longs, offsets: Longs, subscribed: Ints, topic_count: int) -> list[Ints]:
    """Subscribers of each topic, in ``order``, each once."""
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    listed = np.unique(subscribed.astype(np.int64) * len(order) + np.repeat(rank, np.diff(offsets)))
    bounds = np.searchsorted(listed, np.arange(topic_count + 1) * len(order))
    readers = order[listed % max(1, len(order))].astype(np.int32)
    return [readers[bounds[topic] : bounds[topic + 1]] for topic in range(topic_count)]
