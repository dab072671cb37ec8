"""The group coordinator's ``simple`` for share groups (KIP-932), where a partition may have several readers.

From 4.2 it promises, in this order: with M members on T partitions each partition is read by S = ⌈M/T⌉ of them where
that is possible, members read about S·T/M partitions each, and what is read already stays where it is. To 4.0 every
member reads every partition of its topics, and previous assignments play no part.

Stands for Kafka 4.2 – 4.3 (``share-simple``) and 4.0 (``share-simple@4.0``). The preview of 4.1 is not modelled.

Example: 2 partitions, members a, b, c: S = 2, wants ⌈4/3⌉, ⌈8/3⌉ − 2, 4 − 3 = 2, 1, 1. To 4.0: all three read both.

Complexity: O(M log M + W + S·T) (4.2), O(M·T) (4.0), for W owned partitions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_rebalance.arrays import Flags, Ints, Longs
from kafka_rebalance.assignors.assignment import Assignment, Withheld
from kafka_rebalance.assignors.orders import member_walk
from kafka_rebalance.assignors.owned_lists import owned_lists
from kafka_rebalance.assignors.request import AssignmentRequest
from kafka_rebalance.assignors.server.orders import (
    JavaMaps,
    is_hashed,
    is_homogeneous,
    refuse_missing_topics,
    subscription_of,
    topic_hashes,
)
from kafka_rebalance.assignors.server.uniform import no_entries
from kafka_rebalance.assignors.server.uniform_heterogeneous import list_subscribers
from kafka_rebalance.assignors.share.spread import (
    held_in_order,
    integer_walk,
    lists_of,
    share_out,
    wants_of,
)
from kafka_rebalance.errors import AssignorError
from kafka_rebalance.java.keys import topic_id_partition_hashes


@dataclass(frozen=True, slots=True)
class ShareSimpleAssignor:
    """``org.apache.kafka.coordinator.group.assignor.SimpleAssignor`` since 4.2."""

    name: str = "share-simple"
    versions: str = "Kafka 4.2 – 4.3"

    def assign(self, request: AssignmentRequest) -> Assignment:
        """Raises AssignorError: PartitionAssignorException for a subscribed topic without metadata, and
        NoSuchElementException where the real class trips over partitions that vanished.
        """
        members = request.members
        if len(members) == 0:
            return no_entries(0)
        order, hashes = member_walk(request), topic_hashes(request)
        held = _Held.of(request, order, hashes)
        if is_homogeneous(request):
            subscribed = subscription_of(request, int(order[0]), hashes)
            if len(subscribed) == 0:
                return no_entries(len(members))
            refuse_missing_topics(request, subscribed)
            held.spread(request, subscribed, np.arange(len(order), dtype=np.int32), hashes)
        else:
            starts, places = list_subscribers(
                order, members.subscription_offsets, members.subscription_topics, len(request.topics)
            )
            subscribed = np.flatnonzero(np.diff(starts)).astype(np.int32)
            if len(subscribed) == 0:
                return no_entries(len(members))
            refuse_missing_topics(request, subscribed)
            # Java never takes a topic back that nobody in the group subscribes to any more.
            held.is_kept[:] = ~np.isin(members.owned_topics, subscribed)
            for topic in subscribed.tolist():
                held.spread(request, np.array([topic], np.int32), places[starts[topic] : starts[topic + 1]], None)
        return held.lists(request, order)


@dataclass(frozen=True, slots=True, eq=False)
class _Held:
    """What members hold while their partitions are spread: entries in map order, kept ones, and what is dealt.

    ``places`` (of members in map order), ``topics``, ``partitions`` and ``entries`` (positions in the request's owned
    columns) run along the entries; ``is_kept`` along the request's owned columns.
    """

    places: Longs
    topics: Ints
    partitions: Ints
    entries: Longs
    is_kept: Flags
    dealt: list[tuple[Ints, Ints, Ints]]

    @classmethod
    def of(cls, request: AssignmentRequest, order: Longs, hashes: Ints) -> _Held:
        members = request.members
        entries = held_in_order(order, owned_lists(members), JavaMaps(hashes, is_hashed(request)))
        places = np.repeat(np.arange(len(order)), np.diff(members.owned_offsets)[order])
        is_kept = np.zeros(len(entries), np.bool_)
        return cls(places, members.owned_topics[entries], members.owned_partitions[entries], entries, is_kept, [])

    def spread(self, request: AssignmentRequest, topics: Ints, readers: Ints, hashes: Ints | None) -> None:
        """Spread ``topics`` over ``readers`` (places, ascending).

        With ``hashes`` of topics Java's keys are TopicIdPartitions, without them (one topic) Integers.
        """
        assignable = _assignable(request, topics)
        concerned = np.flatnonzero(np.isin(self.topics, topics))
        held = _packed(self.topics[concerned], self.partitions[concerned])
        keys = np.concatenate([assignable, np.setdiff1d(held, assignable)])
        by_key = np.argsort(keys)
        held_keys = by_key[np.searchsorted(keys, held, sorter=by_key)].astype(np.int32)
        key_topics, key_partitions = _unpacked(keys)
        key_hashes = key_partitions if hashes is None else topic_id_partition_hashes(hashes[key_topics], key_partitions)
        count = len(request.members)
        sharing, reader_wants = wants_of(len(readers), len(assignable))
        wants = np.zeros(count, np.int64)
        wants[readers] = reader_wants
        held_starts = np.searchsorted(self.places[concerned], np.arange(count + 1))
        stays, dealt_places, dealt_keys, is_done = share_out(
            integer_walk(count), wants, sharing, key_hashes, len(assignable), held_starts, held_keys
        )
        if not is_done:
            raise AssignorError("java.util.NoSuchElementException")
        self.is_kept[self.entries[concerned]] = stays
        self.dealt.append((dealt_places, key_topics[dealt_keys], key_partitions[dealt_keys]))

    def lists(self, request: AssignmentRequest, order: Longs) -> Assignment:
        """What each member keeps, then what it is dealt."""
        places, topics, partitions = (np.concatenate(column) for column in zip(*self.dealt, strict=True))
        owned = owned_lists(request.members)
        return Assignment.of(*lists_of(order, owned, self.is_kept, (places, topics, partitions)))


def _assignable(request: AssignmentRequest, topics: Ints) -> Longs:
    """Keys of the partitions of ``topics`` that may be assigned, in order."""
    named, partitions = _whole_topics(topics, request.topics.partition_counts)
    if request.is_assignable is not None:
        may = request.is_assignable[request.topics.first_row[named] + partitions]
        named, partitions = named[may], partitions[may]
    return _packed(named, partitions)


def _packed(topics: Ints, partitions: Ints) -> Longs:
    return (topics.astype(np.int64) << 32) | partitions.astype(np.int64)


def _unpacked(keys: Longs) -> tuple[Ints, Ints]:
    return (keys >> 32).astype(np.int32), (keys & 0xFFFFFFFF).astype(np.int32)


@dataclass(frozen=True, slots=True)
class ShareSimpleAssignorOf40:
    """``SimpleAssignor`` of Kafka 4.0: everybody reads everything it subscribes to."""

    name: str = "share-simple@4.0"
    versions: str = "Kafka 4.0"

    def assign(self, request: AssignmentRequest) -> Assignment:
        """Raises AssignorError (PartitionAssignorException) for a subscribed topic without metadata."""
        members, hashes = request.members, topic_hashes(request)
        count = len(members)
        if count == 0:
            return no_entries(0)
        if is_homogeneous(request):
            # Java looks at its first member alone.
            first = subscription_of(request, int(member_walk(request)[0]), hashes)
            subscriptions = [first] * count
        else:
            subscriptions = [subscription_of(request, member, hashes) for member in range(count)]
        refuse_missing_topics(request, np.concatenate(subscriptions))
        read = {id(topics): _whole_topics(topics, request.topics.partition_counts) for topics in subscriptions}
        offsets = np.zeros(count + 1, np.int64)
        np.cumsum([len(read[id(topics)][0]) for topics in subscriptions], out=offsets[1:])
        return Assignment(
            offsets,
            np.concatenate([read[id(topics)][0] for topics in subscriptions]),
            np.concatenate([read[id(topics)][1] for topics in subscriptions]),
            Withheld.nothing(),
            has_entry=np.array([len(topics) > 0 for topics in subscriptions]),
        )


def _whole_topics(topics: Ints, counts: Ints) -> tuple[Ints, Ints]:
    """All partitions of these topics, as two columns."""
    sizes = counts[topics]
    starts = np.repeat(np.cumsum(sizes) - sizes, sizes)
    partitions = np.arange(int(sizes.sum()), dtype=np.int64) - starts
    return np.repeat(topics, sizes), partitions.astype(np.int32)
