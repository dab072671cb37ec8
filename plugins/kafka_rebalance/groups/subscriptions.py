"""What each member subscribes to, where the input does not list it.

Kafka's tools print what members read, not what they subscribe to. Two hypotheses cover nearly all groups: all members
subscribe to everything that the group reads; or each subscribes to what it reads itself (two services that share a
group id). The one under which the group's own strategy gives exactly today's assignment counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum

import numpy as np

from kafka_rebalance.arrays import Flags, Floats, Longs
from kafka_rebalance.assignors.contract import (
    NO_METADATA,
    AssignmentRequest,
    MapOrder,
    MemberColumns,
    StringColumn,
    TopicColumns,
)
from kafka_rebalance.groups.feeding_order import feeding_order
from kafka_rebalance.groups.group_input import GroupInput
from kafka_rebalance.groups.strategies import release_of_brokers
from kafka_rebalance.java.keys import uuid_columns
from kafka_rebalance.snapshot.model import Member


class SubscriptionBasis(StrEnum):
    """Where the subscriptions come from."""

    GIVEN = "given"
    ALL_ALIKE = "assumed: all members subscribe to all topics that the group reads"
    AS_READ = "assumed: each member subscribes to the topics that it reads"


Subscriptions = tuple[tuple[int, ...], ...]  # topic indices by member


def hypotheses(group_input: GroupInput) -> list[tuple[SubscriptionBasis, Subscriptions]]:
    """The subscriptions as given; else both hypotheses, the likelier first."""
    members = group_input.group.members
    index = {topic: number for number, topic in enumerate(group_input.topics)}
    if all(_is_told(member) for member in members):
        return [(SubscriptionBasis.GIVEN, tuple(_given(member, index) for member in members))]
    every = tuple(range(len(group_input.topics)))
    alike = tuple(_given(member, index) if _is_told(member) else every for member in members)
    as_read = tuple(
        _given(member, index) if _is_told(member) else tuple(sorted(index[topic] for topic, _ in member.assigned))
        for member in members
    )
    answers = [(SubscriptionBasis.ALL_ALIKE, alike)]
    readers = [topic for topics in as_read for topic in topics]
    # Where every topic has one reader, "as it reads" explains any assignment: that is no evidence.
    is_telling = as_read != alike and len(set(readers)) < len(readers)
    return [*answers, (SubscriptionBasis.AS_READ, as_read)] if is_telling else answers


def request_of(
    group_input: GroupInput, subscriptions: Subscriptions, *, is_server: bool = False, as_listed: bool = False
) -> AssignmentRequest:
    """The call of a strategy, as the group's leader would make it, or its coordinator (``is_server``).

    Strategies hear of subscribed topics alone, the coordinator's of those only that exist. Every member owns what it
    reads today, in one generation: what the members of a healthy group say when they join again. They are put into the
    strategy's map as the coordinator walks them (``feeding_order``), or ``as_listed``.
    """
    counts, members = group_input.partition_counts, group_input.group.members
    release = release_of_brokers(group_input.kafka_version)
    if is_server:
        subscriptions = tuple(tuple(topic for topic in topics if counts[topic] >= 0) for topics in subscriptions)
    rack_names = tuple(sorted({rack for rack in (*group_input.racks, *(m.rack for m in members)) if rack}))
    subscribed = np.zeros(len(counts), dtype=np.bool_)
    subscribed[[topic for topics in subscriptions for topic in topics]] = True
    return AssignmentRequest(
        topics=_topics(group_input, subscribed, rack_names),
        members=_members(group_input, subscriptions, rack_names),
        rack_names=rack_names,
        order=MapOrder.HASH if is_server else MapOrder.LEADER,
        weights=_weights(group_input, subscribed),
        member_order=None if as_listed else feeding_order(members, release, is_server=is_server),
    )


def _members(group_input: GroupInput, subscriptions: Subscriptions, rack_names: tuple[str, ...]) -> MemberColumns:
    members = group_input.group.members
    rack = {name: number for number, name in enumerate(rack_names)}
    index = {topic: number for number, topic in enumerate(group_input.topics)}
    owned = [
        [
            (index[topic], p)
            for topic, runs in member.assigned
            for p in runs
            if p < group_input.partition_counts[index[topic]]
        ]
        for member in members
    ]
    flat = np.array([pair for pairs in owned for pair in pairs], dtype=np.int32).reshape(-1, 2)
    generation = np.ones(len(members), dtype=np.int32)
    columns = MemberColumns.of(
        StringColumn.of(member.id for member in members),
        _bounds(subscriptions),
        np.array([topic for topics in subscriptions for topic in topics], dtype=np.int32),
        instances=[member.instance_id for member in members],
        racks=np.array([rack.get(member.rack or "", -1) for member in members], dtype=np.int32),
        owned=(_bounds(owned), flat[:, 0].copy(), flat[:, 1].copy()),
    )
    return replace(
        columns, generations=generation, data_generations=generation,
        user_data=tuple(member.user_data for member in members),
        hosts=tuple(member.host for member in members),
        client_ids=tuple(member.client_id for member in members),
    )  # fmt: skip


def _topics(group_input: GroupInput, subscribed: Flags, rack_names: tuple[str, ...]) -> TopicColumns:
    counts = np.where(subscribed & (group_input.partition_counts >= 0), group_input.partition_counts, NO_METADATA)
    rack_offsets, racks = group_input.rack_offsets, np.zeros(0, dtype=np.int32)
    rack = {name: number for number, name in enumerate(rack_names)}
    if rack_offsets is not None:
        is_asked, widths = _rows(group_input, subscribed), np.diff(rack_offsets)
        racks = np.array([rack.get(name or "", -1) for name in group_input.racks], dtype=np.int32)
        racks = racks[np.repeat(is_asked, widths)]
        rack_offsets = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(widths[is_asked])))
    high, low = uuid_columns(group_input.topic_ids) if group_input.topic_ids else (None, None)
    return TopicColumns.of(
        StringColumn.of(group_input.topics), counts.astype(np.int32), rack_offsets=rack_offsets, racks=racks,
        uuid_msb=high, uuid_lsb=low,
    )  # fmt: skip


def _weights(group_input: GroupInput, subscribed: Flags) -> Floats | None:
    """Bytes per second where all are known; else none, and partitions weigh the same."""
    rates = group_input.rates.in_bytes_per_s[_rows(group_input, subscribed)]
    return None if np.isnan(rates).any() or not rates.any() else rates


def _rows(group_input: GroupInput, subscribed: Flags) -> Flags:
    """bool[P]: partitions of subscribed topics."""
    return np.repeat(subscribed, np.maximum(group_input.partition_counts, 0))


def _bounds(lists: Sequence[Sequence[object]]) -> Longs:
    return np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum([len(topics) for topics in lists]))).astype(np.int64)


def _is_told(member: Member) -> bool:
    """A regular expression is the coordinator's to resolve: its topics are not told."""
    return member.subscription is not None and member.subscribed_regex is None


def _given(member: Member, index: dict[str, int]) -> tuple[int, ...]:
    return tuple(index[topic] for topic in member.subscription or ())
