"""MetaQ's default balance strategy: one topic's partitions cut into ranges over its consumers.

Promises: every partition of a topic has one consumer; the first ``partitions mod consumers`` consumers get one more;
consumers beyond the number of partitions get nothing. Each consumer works it out for itself from two sorted lists.

Both lists are sorted as strings: partitions are named ``broker-number``, so ``0-10`` stands before ``0-2``. Kafka's
partition p stands here for MetaQ's ``0-p``. Stands for Metamorphosis 1.4 (``DefaultLoadBalanceStrategy``).

Example: consumers a, b, c and partitions 0-0, 0-1: a gets 0-0, b 0-1, c nothing.

Complexity: O(M log M + n log n + S) a topic.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kafka_rebalance.arrays import NOBODY, Longs
from kafka_rebalance.assignors.assignment import Assignment
from kafka_rebalance.assignors.orders import by_member_id
from kafka_rebalance.assignors.owned_lists import lists_by_owner
from kafka_rebalance.assignors.ranges import plain_ranges, subscriber_counts
from kafka_rebalance.assignors.request import AssignmentRequest
from kafka_rebalance.errors import AssignorError
from kafka_rebalance.java.strings import sorted_order
from kafka_rebalance.string_column import StringColumn


def default_share(consumer: str, consumers: Sequence[str], partitions: Sequence[str]) -> list[str]:
    """What ``consumer`` takes of the lists as they are given. A stranger takes nothing.

    Raises AssignorError (ArithmeticException) when nobody consumes.
    """
    if not consumers:
        raise AssignorError("java.lang.ArithmeticException", "/ by zero")
    if consumer not in consumers:
        return []
    place = consumers.index(consumer)
    quota, extras = divmod(len(partitions), len(consumers))
    start = quota * place + min(place, extras)
    return list(partitions[start : start + quota + (place < extras)])


@dataclass(frozen=True, slots=True)
class MetaqDefaultAssignor:
    """``com.taobao.metamorphosis.client.consumer.DefaultLoadBalanceStrategy``, each topic among its subscribers."""

    name: str = "metaq-default"
    versions: str = "Metamorphosis 1.4"

    def assign(self, request: AssignmentRequest) -> Assignment:
        """Topics without metadata or subscribers are passed over."""
        members, first_row = request.members, request.topics.first_row
        columns = (members.subscription_offsets, members.subscription_topics)
        subscribers = subscriber_counts(*columns, len(request.topics), True)
        by_place = plain_ranges(by_member_id(members), *columns, first_row, subscribers, True)
        owners = np.full(len(by_place), NOBODY, np.int32)
        for start, end in zip(first_row[:-1].tolist(), first_row[1:].tolist(), strict=True):
            owners[start + partition_order(end - start)] = by_place[start:end]
        walk = np.flatnonzero(subscribers)
        return Assignment.of(*lists_by_owner(owners, first_row, walk, len(members)))


def partition_names(count: int) -> StringColumn:
    """MetaQ's names of a topic's partitions on one broker."""
    return StringColumn.of(f"0-{partition}" for partition in range(count))


def partition_order(count: int) -> Longs:
    """Partitions 0 … count − 1 in the order of their names."""
    names = partition_names(count)
    order: Longs = sorted_order(names.data, names.offsets)
    return order
