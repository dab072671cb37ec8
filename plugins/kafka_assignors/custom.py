"""Custom assignor: one class with one method, over plain objects.

>>> class HeaviestFirst:
...     name = "heaviest-first"
...
...     def assign_members(self, members, topics):
...         readers = sorted(members, key=lambda member: -member.weight)
...         partitions = [(topic.name, p) for topic in topics for p in range(topic.partitions)]
...         return {reader.id: partitions[i :: len(readers)] for i, reader in enumerate(readers)}

A valid answer gives every partition of a subscribed topic one reader, which subscribes to it. This adapter runs trusted
code; ``rebalance_advisor.own_strategies`` runs other code in another process.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from kafka_assignors.contract import Assignment, AssignmentRequest
from kafka_assignors.custom_views import Answer, MemberView, TopicView, plain_answer
from kafka_assignors.errors import AssignorError
from kafka_assignors.visible_text import excerpt, visible

_UNREAD_NAMED = 3

__all__ = ["CustomAssignor", "CustomAssignorAdapter", "MemberView", "TopicView", "assignment_of"]


@runtime_checkable
class CustomAssignor(Protocol):
    @property
    def name(self) -> str: ...

    def assign_members(
        self, members: Sequence[MemberView], topics: Sequence[TopicView]
    ) -> Mapping[str, Sequence[tuple[str, int]]]: ...


@dataclass(frozen=True, slots=True)
class CustomAssignorAdapter:
    strategy: CustomAssignor

    @property
    def name(self) -> str:
        return self.strategy.name

    @property
    def versions(self) -> str:
        return str(getattr(self.strategy, "versions", ""))

    def assign(self, request: AssignmentRequest) -> Assignment:
        try:
            answer = self.strategy.assign_members(member_views(request), topic_views(request))
            plain = plain_answer(answer)
        except AssignorError:
            raise
        except Exception as error:
            raise AssignorError("Raised", visible(f"{type(error).__name__}: {error}")) from error
        return assignment_of(plain, request)


def assignment_of(answer: Answer, request: AssignmentRequest) -> Assignment:
    """Missing members get nothing.

    O(partitions + subscriptions). Raises AssignorError for an unknown member or partition, one given twice or to a
    member that does not subscribe to it, and an unread one.
    """
    views, counts = member_views(request), _partition_counts(request)
    sets = {id(view.topics): frozenset(view.topics) for view in views}
    subscribed = {view.id: sets[id(view.topics)] for view in views}
    reader: dict[tuple[str, int], str] = {}
    for member, pairs in answer.items():
        if member not in subscribed:
            raise AssignorError("UnknownMember", f"names member {excerpt(member)}, which is not in the group")
        for topic, partition in pairs:
            if not 0 <= partition < counts.get(topic, 0):
                raise _refusal("UnknownPartition", member, topic, partition, "and there is no such partition")
            if topic not in subscribed[member]:
                raise _refusal("NotSubscribed", member, topic, partition, "who does not subscribe to it")
            if (topic, partition) in reader:
                before = excerpt(reader[topic, partition])
                raise _refusal("GivenTwice", member, topic, partition, f"and to {before} before")
            reader[topic, partition] = member
    _require_all_read(reader, counts)
    index = {name: i for i, name in enumerate(request.topics.names.strings)}
    lists = [answer.get(view.id, []) for view in views]
    offsets = np.zeros(len(lists) + 1, dtype=np.int64)
    np.cumsum([len(row) for row in lists], out=offsets[1:])
    topics = np.array([index[topic] for row in lists for topic, _ in row], dtype=np.int32)
    partitions = np.array([partition for row in lists for _, partition in row], dtype=np.int32)
    return Assignment.of(offsets, topics, partitions)


def _partition_counts(request: AssignmentRequest) -> dict[str, int]:
    names, counts = request.topics.names.strings, request.topics.partition_counts
    topics = np.unique(request.members.subscription_topics)
    return {names[topic]: int(counts[topic]) for topic in topics.tolist() if counts[topic] >= 0}


def _refusal(kind: str, member: str, topic: str, partition: int, why: str) -> AssignorError:
    return AssignorError(kind, f"gives {excerpt(topic)}-{excerpt(partition)} to {excerpt(member)}, {why}")


def _require_all_read(reader: Mapping[tuple[str, int], str], counts: Mapping[str, int]) -> None:
    unread = sum(counts.values()) - len(reader)
    if unread:
        missing = ((name, p) for name in sorted(counts) for p in range(counts[name]) if (name, p) not in reader)
        named = ", ".join(f"{name}-{p}" for _, (name, p) in zip(range(_UNREAD_NAMED), missing, strict=False))
        more = ", …" if unread > _UNREAD_NAMED else ""
        raise AssignorError("Unread", f"leaves {unread} of {sum(counts.values())} partitions unread: {named}{more}")


def topic_views(request: AssignmentRequest) -> tuple[TopicView, ...]:
    """The leader's view."""
    topics, racks = request.topics, request.rack_names
    bounds, cells = topics.rack_offsets.tolist(), topics.racks.tolist()
    subscribed = set(request.members.subscription_topics.tolist())
    views = []
    for index, (name, count) in enumerate(zip(topics.names.strings, topics.partition_counts.tolist(), strict=True)):
        if count < 0 or index not in subscribed:
            continue
        rows = range(int(topics.first_row[index]), int(topics.first_row[index]) + count)
        sets = tuple(frozenset(racks[r] for r in cells[bounds[row] : bounds[row + 1]] if r >= 0) for row in rows)
        weights = () if request.weights is None else tuple(request.weights[rows.start : rows.stop].tolist())
        views.append(TopicView(name, count, sets if any(sets) else (), weights))
    return tuple(views)


def member_views(request: AssignmentRequest) -> tuple[MemberView, ...]:
    members, names, racks = request.members, request.topics.names.strings, request.rack_names
    subscribed, owned = members.subscription_offsets.tolist(), members.owned_offsets.tolist()
    shared: dict[bytes, tuple[str, ...]] = {}

    def topics_of(member: int) -> tuple[str, ...]:
        listed = members.subscription_topics[subscribed[member] : subscribed[member + 1]]
        key = listed.tobytes()
        if key not in shared:
            shared[key] = tuple(names[topic] for topic in listed.tolist())
        return shared[key]

    return tuple(
        MemberView(
            id=member_id,
            topics=topics_of(i),
            instance_id=members.instance_ids[i] if members.has_instance_id[i] else None,
            rack=racks[members.racks[i]] if members.racks[i] >= 0 else None,
            host=members.hosts[i] if members.hosts else None,
            client_id=members.client_ids[i] if members.client_ids else None,
            owned=tuple(
                (names[t], p)
                for t, p in zip(
                    members.owned_topics[owned[i] : owned[i + 1]].tolist(),
                    members.owned_partitions[owned[i] : owned[i + 1]].tolist(),
                    strict=True,
                )
            ),
            user_data=members.user_data[i] if members.user_data else None,
        )
        for i, member_id in enumerate(members.ids.strings)
    )
