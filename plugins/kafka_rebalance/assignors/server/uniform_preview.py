"""The group coordinator's ``uniform`` of Kafka 3.8 and 3.9, the previews of KIP-848.

Where all members subscribe to the same topics it is the one of 4.0.0; else another, see ``uniform_preview_kernels``.
Promises, in this order: every partition of a subscribed topic has one owner; members keep what they hold; counts are
evened out, as far as no move of a topic goes against an earlier one (there the group gets no new assignment at all).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_rebalance.arrays import Ints, Longs
from kafka_rebalance.assignors.assignment import Assignment
from kafka_rebalance.assignors.orders import by_member_id, member_walk, ranks_of
from kafka_rebalance.assignors.owned_lists import owned_columns
from kafka_rebalance.assignors.request import AssignmentRequest
from kafka_rebalance.assignors.server.orders import (
    PARTITION_ASSIGNOR_EXCEPTION,
    is_homogeneous,
    refuse_missing_topics,
    subscription_of,
    topic_hashes,
)
from kafka_rebalance.assignors.server.uniform import as_of_4_0_0, no_entries
from kafka_rebalance.assignors.server.uniform_heterogeneous import list_subscribers
from kafka_rebalance.assignors.server.uniform_preview_kernels import (
    DONE,
    LEFT_UNASSIGNED,
    MOVED_BACK,
    NO_OWNER,
    NOBODY_BELOW_MAXIMUM,
    deal_by_size,
    even_out_once,
    keep_all,
)
from kafka_rebalance.errors import AssignorError
from kafka_rebalance.java.hash_order import DEFAULT_CAPACITY, put_order

_REFUSALS = {
    LEFT_UNASSIGNED: "Some partitions were left unassigned",
    MOVED_BACK: "Mismatch in partition movement record with respect to partition ownership during a rebalance",
    NO_OWNER: "No suitable new owner was found for the partition",
}


@dataclass(frozen=True, slots=True)
class PreviewUniformAssignor:
    """``UniformAssignor`` with ``UniformHeterogeneousAssignmentBuilder`` of 3.8."""

    name: str = "server-uniform@3.8"
    versions: str = "Kafka 3.8 – 3.9"

    def assign(self, request: AssignmentRequest) -> Assignment:
        """Raises AssignorError: PartitionAssignorException where Kafka finds no way, NoSuchElementException where
        nobody has room for more.
        """
        if len(request.members) == 0:
            return no_entries(0)
        return as_of_4_0_0().assign(request) if is_homogeneous(request) else _heterogeneous(request)


def _heterogeneous(request: AssignmentRequest) -> Assignment:
    topics, members, order = request.topics, request.members, member_walk(request)
    counts, first_row = topics.partition_counts, topics.first_row
    readers = list_subscribers(order, members.subscription_offsets, members.subscription_topics, len(topics))
    if len(readers[1]) == 0:
        return no_entries(len(members))
    subscribers = np.diff(readers[0])
    refuse_missing_topics(request, np.flatnonzero(subscribers).astype(np.int32))
    maxima = np.bincount(readers[1], np.repeat(counts, subscribers), len(order)).astype(np.int32)
    limits = (maxima, ranks_of(by_member_id(members))[order])
    topic_of = np.repeat(np.arange(len(topics), dtype=np.int32), np.maximum(counts, 0))
    sequence = _rows_by_need(request, order, subscribers, topic_of)
    owners, sizes, shadows = keep_all(order, (counts, first_row), readers, owned_columns(members))
    _refuse(deal_by_size(sequence, topic_of, readers, (owners, sizes), limits))
    _refuse(even_out_once(sequence, (counts, first_row, topic_of), readers, (owners, sizes), limits, shadows))
    held = _pairs_held(order, owners, shadows)
    return Assignment.of(*_lists(request, held, topic_of, _vanished(request)))


def _refuse(outcome: int) -> None:
    if outcome == NOBODY_BELOW_MAXIMUM:
        raise AssignorError("java.util.NoSuchElementException")
    if outcome != DONE:
        raise AssignorError(PARTITION_ASSIGNOR_EXCEPTION, _REFUSALS[outcome])


def _rows_by_need(request: AssignmentRequest, order: Longs, subscribers: Longs, topic_of: Ints) -> Longs:
    """Rows of subscribed topics: most partitions per subscriber, fewest subscribers, number; ties as in a HashSet."""
    topics, hashes = request.topics, topic_hashes(request)
    listed = np.concatenate([subscription_of(request, int(member), hashes) for member in order])
    seen = listed[np.sort(np.unique(listed, return_index=True)[1])]
    seen = seen[put_order(hashes[seen], DEFAULT_CAPACITY)]
    rows = np.concatenate([np.arange(topics.first_row[topic], topics.first_row[topic + 1]) for topic in seen])
    partition = rows - topics.first_row[topic_of[rows]]
    codes = (31 * (31 + hashes[topic_of[rows]].astype(np.int64)) + partition).astype(np.uint32).view(np.int32)
    walk = put_order(codes, DEFAULT_CAPACITY)
    rows, partition = rows[walk], partition[walk]
    readers = subscribers[topic_of[rows]]
    by_need: Longs = rows[np.lexsort((partition, readers, -topics.partition_counts[topic_of[rows]] / readers))]
    return by_need


def _pairs_held(order: Longs, owners: Ints, shadows: tuple[Ints, Longs]) -> tuple[Longs, Longs]:
    """Members and rows: of all owners, and of earlier ones that gave nothing away."""
    places, rows = shadows
    stays = (places >= 0) & (places != owners[rows])
    owned = np.flatnonzero(owners >= 0)
    return order[np.concatenate((owners[owned], places[stays]))], np.concatenate((owned, rows[stays]))


def _vanished(request: AssignmentRequest) -> tuple[Longs, Ints, Ints]:
    """Members, topics, numbers: what a member holds of its topics and exists no longer stays with it."""
    members, counts = request.members, request.topics.partition_counts
    offsets, topics, partitions = owned_columns(members)
    holder = np.repeat(np.arange(len(members)), np.diff(offsets))
    reader = np.repeat(np.arange(len(members)), np.diff(members.subscription_offsets))
    reads = np.isin(holder * len(counts) + topics, reader * len(counts) + members.subscription_topics)
    stays = reads & ((partitions < 0) | (partitions >= counts[topics]))
    return holder[stays], topics[stays], partitions[stays]


def _lists(
    request: AssignmentRequest, held: tuple[Longs, Longs], topic_of: Ints, vanished: tuple[Longs, Ints, Ints]
) -> tuple[Longs, Ints, Ints]:
    """Each member's partitions by topic and number: offsets, topics, numbers."""
    topics = np.concatenate((topic_of[held[1]], vanished[1])).astype(np.int32)
    numbers = np.concatenate((held[1] - request.topics.first_row[topic_of[held[1]]], vanished[2])).astype(np.int32)
    holders = np.concatenate((held[0], vanished[0]))
    by_holder = np.lexsort((numbers, topics, holders))
    counts = np.bincount(holders, minlength=len(request.members))
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(counts))), topics[by_holder], numbers[by_holder]
