"""What each member subscribes to, where the input does not say it.

Kafka's tools print what members read, not what they subscribe to. Two hypotheses cover nearly all groups: all members
subscribe to everything that the group reads; or each subscribes to what it reads itself (two services that share a
group id). The one under which the group's own strategy gives exactly today's assignment counts.
"""

from __future__ import annotations

from enum import StrEnum

import numpy as np

from kafka_rebalance.assignors.contract import (
    NO_METADATA,
    AssignmentRequest,
    MapOrder,
    MemberColumns,
    StringColumn,
    TopicColumns,
)
from kafka_rebalance.group_question import GroupQuestion
from kafka_rebalance.model import Member


class SubscriptionBasis(StrEnum):
    """Where the subscriptions come from."""

    GIVEN = "given"
    ALL_ALIKE = "assumed: all members subscribe to all topics that the group reads"
    AS_READ = "assumed: each member subscribes to the topics that it reads"


Subscriptions = tuple[tuple[int, ...], ...]  # topic indices by member


def hypotheses(question: GroupQuestion) -> list[tuple[SubscriptionBasis, Subscriptions]]:
    """The subscriptions as given; else both hypotheses, the likelier first."""
    members = question.group.members
    index = {topic: number for number, topic in enumerate(question.topics)}
    if all(member.subscription is not None for member in members):
        return [(SubscriptionBasis.GIVEN, tuple(_given(member, index) for member in members))]
    every = tuple(range(len(question.topics)))
    alike = tuple(_given(member, index) if member.subscription is not None else every for member in members)
    as_read = tuple(
        _given(member, index)
        if member.subscription is not None
        else tuple(sorted(index[topic] for topic, _ in member.assigned))
        for member in members
    )
    answers = [(SubscriptionBasis.ALL_ALIKE, alike)]
    readers = [topic for topics in as_read for topic in topics]
    # Where every topic has one reader, "as it reads" explains any assignment: that is no evidence.
    is_telling = as_read != alike and len(set(readers)) < len(readers)
    return [*answers, (SubscriptionBasis.AS_READ, as_read)] if is_telling else answers


def request_of(question: GroupQuestion, subscriptions: Subscriptions) -> AssignmentRequest:
    """The call of a client-side strategy, as the group's leader would make it."""
    members = question.group.members
    offsets = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum([len(each) for each in subscriptions])))
    rack_names = tuple(sorted({each for each in (*question.racks, *(m.rack for m in members)) if each}))
    rack = {name: number for number, name in enumerate(rack_names)}
    columns = MemberColumns.of(
        StringColumn.of(member.id for member in members),
        offsets.astype(np.int64),
        np.array([topic for each in subscriptions for topic in each], dtype=np.int32),
        instance_ids=StringColumn.of(member.instance_id or "" for member in members),
        has_instance_id=np.array([member.instance_id is not None for member in members], dtype=np.bool_),
        racks=np.array([rack.get(member.rack or "", -1) for member in members], dtype=np.int32),
    )
    topics = TopicColumns.of(
        StringColumn.of(question.topics),
        np.where(question.partition_counts < 0, NO_METADATA, question.partition_counts).astype(np.int32),
        rack_offsets=question.rack_offsets,
        racks=np.array([rack.get(each or "", -1) for each in question.racks], dtype=np.int32),
    )
    return AssignmentRequest(topics=topics, members=columns, rack_names=rack_names, order=MapOrder.LEADER)


def _given(member: Member, index: dict[str, int]) -> tuple[int, ...]:
    return tuple(index[topic] for topic in member.subscription or ())
