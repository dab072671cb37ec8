"""Round robin of other clients: partitions dealt one by one to the members in turn.

Promises: completeness (kafka-python 3 refuses instead); with equal subscriptions and no omitted members, counts differ
by one at most. O(subscriptions + P log M + M log M); Sarama's texts O(P log P).

Differences from Java, with topics t (11 partitions) and a, a-1:
- Sarama deals in the order of the text ``topic-partition``: t-0, t-1, t-10, t-2 …; a-0, a-1 and a-1-0 mix.
- kafka-python 3 omits members as its range does, and fails (KeyError) when the next member does not subscribe.
- KafkaJS deals the partitions of the leader's topics to all members, whether or not they subscribe.
- librdkafka and franz-go differ only in member order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kafka_assignors.arrays import ABSENT, Ints, Longs
from kafka_assignors.contract import Assignment, AssignmentRequest, TopicColumns
from kafka_assignors.errors import AssignorError
from kafka_assignors.kernels import kernel
from kafka_assignors.other_clients.member_orders import (
    as_librdkafka_sorts,
    by_code_points,
    by_id,
    by_utf16_id,
    join_order,
    last_runs,
    readers_in_one_order,
    refuse_unknown_topics,
    static_first,
)
from kafka_assignors.owned_lists import assignment_by_owner


@dataclass(frozen=True, slots=True)
class RoundRobinDealer:
    order: Callable[[AssignmentRequest], Longs]
    rows: Callable[[TopicColumns], Longs]
    name: str = "roundrobin"
    versions: str = ""

    def assign(self, request: AssignmentRequest) -> Assignment:
        order, rows = self.order(request), self.rows(request.topics)
        starts, readers = readers_in_one_order(request, order)
        owner = deal_rows(rows, topic_of_rows(request.topics), starts, readers, order)
        return _answer(request, owner)


@dataclass(frozen=True, slots=True)
class SaramaDealer:
    """Deals partitions in the order of their texts."""

    name: str = "roundrobin@sarama"
    versions: str = "sarama 1.61.1"

    def assign(self, request: AssignmentRequest) -> Assignment:
        """Raises AssignorError for a subscribed topic without metadata, and with nothing to deal."""
        refuse_unknown_topics(request)
        if len(request.members) == 0 or len(request.members.subscription_topics) == 0:
            raise AssignorError("error", "members and topics are not provided")
        return RoundRobinDealer(_by_id, in_order_of_texts).assign(request)


@dataclass(frozen=True, slots=True)
class KafkaPython3Dealer:
    """The last run of each kind of members; the next member has to subscribe."""

    name: str = "roundrobin@kafka-python-3"
    versions: str = "kafka-python 3.0.12"

    def assign(self, request: AssignmentRequest) -> Assignment:
        members, topics = request.members, request.topics
        order = last_runs(members, join_order(request).tolist())
        starts, everyone = readers_in_one_order(request, np.arange(len(members), dtype=np.int64))
        rows = in_order_of_topics(topics)
        topic_of = topic_of_rows(topics)
        rows = rows[np.diff(starts)[topic_of[rows]] > 0]
        # Member and topic in one number.
        subscribed = np.repeat(np.arange(len(topics)), np.diff(starts)) * len(members) + everyone
        turn = np.arange(len(rows)) % max(1, len(order))
        wrong = np.flatnonzero(~np.isin(topic_of[rows] * len(members) + order[turn], subscribed))
        if len(wrong):
            # It continues after that member, and looks it up by a pair that is no member id.
            following = int(order[(turn[wrong[0]] + 1) % len(order)])
            instance = members.instance_ids[following] if members.has_instance_id[following] else None
            raise AssignorError("KeyError", repr((instance, members.ids[following])))
        owner = np.full(topics.partition_total, ABSENT, dtype=np.int32)
        owner[rows] = order[turn]
        return _answer(request, owner)


@dataclass(frozen=True, slots=True)
class KafkaJSDealer:
    """Partition i of the leader's topics goes to member i mod M, subscribed or not.

    The request does not name the leader, so its topics, in the order of its subscription, are taken as the leader's.
    """

    name: str = "roundrobin@kafkajs"
    versions: str = "kafkajs 2.2.4"

    def assign(self, request: AssignmentRequest) -> Assignment:
        order = by_utf16_id(request.members)
        owner = np.full(request.topics.partition_total, ABSENT, dtype=np.int32)
        if len(order):
            owner[:] = order[np.arange(len(owner)) % len(order)]
        return _answer(request, owner)


def by_member_id() -> RoundRobinDealer:
    return RoundRobinDealer(_by_id, in_order_of_topics)


def of_franz_go() -> RoundRobinDealer:
    return RoundRobinDealer(lambda request: static_first(request.members), in_order_of_topics)


def of_librdkafka() -> RoundRobinDealer:
    def order(request: AssignmentRequest) -> Longs:
        return as_librdkafka_sorts(request.members, join_order(request).tolist())

    return RoundRobinDealer(order, in_order_of_topics)


def in_order_of_topics(topics: TopicColumns) -> Longs:
    starts = topics.first_row
    walk = by_code_points(topics.names)
    spans = [np.arange(starts[topic], starts[topic + 1]) for topic in walk.tolist()]
    return np.concatenate([np.zeros(0, dtype=np.int64), *spans])


def in_order_of_texts(topics: TopicColumns) -> Longs:
    topic_of = topic_of_rows(topics).tolist()
    numbers = (np.arange(topics.partition_total) - topics.first_row[topic_of]).tolist() if topic_of else []
    names = [name.encode("utf-8", "surrogatepass") for name in topics.names]
    texts = [b"%b-%d" % (names[topic], partition) for topic, partition in zip(topic_of, numbers, strict=True)]
    return np.array(sorted(range(len(texts)), key=texts.__getitem__), dtype=np.int64)


def topic_of_rows(topics: TopicColumns) -> Longs:
    return np.repeat(np.arange(len(topics), dtype=np.int64), np.diff(topics.first_row))


@kernel
def deal_rows(rows: Longs, topic_of: Longs, starts: Longs, readers: Ints, order: Longs) -> Ints:
    """Owners int32[P]: each row to the next reader in turn. ``readers`` of each topic follow ``order``, all members."""
    owner = np.full(len(topic_of), ABSENT, np.int32)
    position = np.empty(len(order), np.int64)
    for i in range(len(order)):
        position[order[i]] = i
    pointer = 0
    for row in rows:
        first, end = starts[topic_of[row]], starts[topic_of[row] + 1]
        if first == end:
            continue
        low, high = first, end
        while low < high:
            middle = (low + high) // 2
            if position[readers[middle]] < pointer:
                low = middle + 1
            else:
                high = middle
        reader = readers[low if low < end else first]
        owner[row] = reader
        pointer = position[reader] + 1
    return owner


def _by_id(request: AssignmentRequest) -> Longs:
    return by_id(request.members)


def _answer(request: AssignmentRequest, owner: Ints) -> Assignment:
    return assignment_by_owner(owner, request.topics, by_code_points(request.topics.names), len(request.members))
