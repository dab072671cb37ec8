"""What each member subscribes to, where the input does not list it.

Kafka's tools print what members read, not what they subscribe to. Two hypotheses cover nearly all groups: all members
subscribe to everything that the group reads; or each subscribes to what it reads itself (two services that share a
group id). The one under which the group's own strategy gives exactly today's assignment counts.
"""

from __future__ import annotations

from enum import StrEnum

import numpy as np

from kafka_rebalance.arrays import Ints, Longs
from kafka_rebalance.assignors.contract import AssignmentRequest
from kafka_rebalance.groups.group_input import GroupInput
from kafka_rebalance.groups.request_frame import Subscriptions, bounds_of, frame_of
from kafka_rebalance.snapshot.model import Member


class SubscriptionBasis(StrEnum):
    """Where the subscriptions come from."""

    GIVEN = "given"
    ALL_ALIKE = "all_alike"  # assumed: all members subscribe to all topics that the group reads
    AS_READ = "as_read"  # assumed: each member subscribes to the topics that it reads


def hypotheses(group_input: GroupInput) -> list[tuple[SubscriptionBasis, Subscriptions]]:
    """The subscriptions as given; else both hypotheses, the likelier first."""
    members = group_input.group.members
    index = {topic: number for number, topic in enumerate(group_input.topics)}
    if all(_is_told(member) for member in members):
        return [(SubscriptionBasis.GIVEN, tuple(_given(member, index) for member in members))]
    every = tuple(range(len(group_input.topics)))
    alike = tuple(_given(member, index) if _is_told(member) else every for member in members)
    as_read = tuple(
        _given(member, index) if _is_told(member) else tuple(sorted({index[topic] for topic in _read_by(member)}))
        for member in members
    )
    answers = [(SubscriptionBasis.ALL_ALIKE, alike)]
    readers = [topic for topics in as_read for topic in topics]
    # Where every topic has one reader, "as it reads" explains any assignment: that is no evidence.
    is_telling = as_read != alike and len(set(readers)) < len(readers)
    return [*answers, (SubscriptionBasis.AS_READ, as_read)] if is_telling else answers


def has_unknown_subscription(group_input: GroupInput, basis: SubscriptionBasis) -> bool:
    """Return whether a member reads nothing and only that hides its subscription: no bound holds for such a group."""
    return basis is SubscriptionBasis.AS_READ and any(
        not _is_told(member) and not _read_by(member) for member in group_input.group.members
    )


def request_of(
    group_input: GroupInput, subscriptions: Subscriptions, *, is_server: bool = False, as_listed: bool = False
) -> AssignmentRequest:
    """The call of a strategy, as the group's leader would make it, or its coordinator (``is_server``).

    Every member owns what it reads today, in one generation: what the members of a healthy group say when they join
    again. They are put into the strategy's map as the coordinator walks them (``feeding_order``), or ``as_listed``.
    """
    frame = frame_of(group_input, subscriptions, is_server=is_server, as_listed=as_listed)
    return frame.of_owned(*_owned(group_input))


def _owned(group_input: GroupInput) -> tuple[Longs, Ints, Ints]:
    """Offsets, topics and partitions that the members read today, each in its own order."""
    index = {topic: number for number, topic in enumerate(group_input.topics)}
    owned = [
        [
            (index[topic], p)
            for topic, runs in member.assigned
            for p in runs
            if p < group_input.partition_counts[index[topic]]
        ]
        for member in group_input.group.members
    ]
    flat = np.array([pair for pairs in owned for pair in pairs], dtype=np.int32).reshape(-1, 2)
    return bounds_of(owned), flat[:, 0].copy(), flat[:, 1].copy()


def _read_by(member: Member) -> set[str]:
    """Topics that the member reads, and those of its target: it subscribes to all of them."""
    return {topic for topic, _ in (*member.assigned, *(member.target or ()))}


def _is_told(member: Member) -> bool:
    """A regular expression is the coordinator's to resolve: its topics are not told."""
    return member.subscription is not None and member.subscribed_regex is None


def _given(member: Member, index: dict[str, int]) -> tuple[int, ...]:
    return tuple(index[topic] for topic in member.subscription or ())


__all__ = ["SubscriptionBasis", "Subscriptions", "has_unknown_subscription", "hypotheses", "request_of"]
