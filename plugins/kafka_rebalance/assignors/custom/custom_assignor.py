"""One's own strategy: one class with one method, which sees people-sized objects instead of columns.

>>> class HeaviestFirst:
...     name = "heaviest-first"
...
...     def assign_members(self, members, topics):
...         readers = sorted(members, key=lambda member: -member.weight)
...         partitions = [(topic.name, p) for topic in topics for p in range(topic.partitions)]
...         return {reader.id: partitions[i :: len(readers)] for i, reader in enumerate(readers)}
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from kafka_rebalance.assignors.assignment import Assignment
from kafka_rebalance.assignors.request import AssignmentRequest
from kafka_rebalance.errors import AssignorError


@dataclass(frozen=True, slots=True)
class TopicView:
    """One topic with metadata; ``racks`` per partition, the racks of its replicas."""

    name: str
    partitions: int
    racks: tuple[frozenset[str], ...] = ()
    weights: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class MemberView:
    """One member as it presents itself. ``owned``: (topic, partition) pairs that it says it owns."""

    id: str
    topics: tuple[str, ...]
    instance_id: str | None = None
    rack: str | None = None
    host: str | None = None
    client_id: str | None = None
    owned: tuple[tuple[str, int], ...] = ()
    user_data: bytes | None = None

    @property
    def data(self) -> Mapping[str, object]:
        """User data that is a JSON object, else nothing."""
        try:
            decoded = json.loads(self.user_data or b"{}")
        except ValueError:
            return {}
        return decoded if isinstance(decoded, dict) else {}

    @property
    def weight(self) -> float:
        """``weight`` in the user data, 1 where there is none."""
        weight = self.data.get("weight", 1.0)
        return float(weight) if isinstance(weight, int | float) else 1.0


@runtime_checkable
class CustomAssignor(Protocol):
    """What one's own class looks like: a name and this method. Members it leaves out get nothing."""

    @property
    def name(self) -> str: ...

    def assign_members(
        self, members: Sequence[MemberView], topics: Sequence[TopicView]
    ) -> Mapping[str, Sequence[tuple[str, int]]]: ...


@dataclass(frozen=True, slots=True)
class CustomAssignorAdapter:
    """Makes an ``CustomAssignor`` an ``Assignor``: views in, (topic, partition) pairs back into columns."""

    strategy: CustomAssignor

    @property
    def name(self) -> str:
        return self.strategy.name

    @property
    def versions(self) -> str:
        return str(getattr(self.strategy, "versions", "one's own"))

    def assign(self, request: AssignmentRequest) -> Assignment:
        """Raises AssignorError when the answer names a member, topic or partition that is not there."""
        answer = self.strategy.assign_members(member_views(request), topic_views(request))
        names, ids = request.topics.names.strings, request.members.ids.strings
        counts = dict(zip(names, request.topics.partition_counts.tolist(), strict=True))
        for member, pairs in answer.items():
            if member not in set(ids):
                raise AssignorError("UnknownMember", f"{self.name} names member {member!r}, which is not in the group")
            for topic, partition in pairs:
                if not 0 <= partition < counts.get(topic, 0):
                    raise AssignorError("UnknownPartition", f"{self.name} gives {topic}-{partition} to {member!r}")
        index = {name: i for i, name in enumerate(names)}
        lists = [list(answer.get(member, ())) for member in ids]
        offsets = np.zeros(len(lists) + 1, dtype=np.int64)
        np.cumsum([len(row) for row in lists], out=offsets[1:])
        topics = np.array([index[topic] for row in lists for topic, _ in row], dtype=np.int32)
        partitions = np.array([partition for row in lists for _, partition in row], dtype=np.int32)
        return Assignment.of(offsets, topics, partitions)


def topic_views(request: AssignmentRequest) -> tuple[TopicView, ...]:
    """Topics with metadata, in column order."""
    topics, racks = request.topics, request.rack_names
    bounds, cells = topics.rack_offsets.tolist(), topics.racks.tolist()
    views = []
    for index, (name, count) in enumerate(zip(topics.names.strings, topics.partition_counts.tolist(), strict=True)):
        if count < 0:
            continue
        rows = range(int(topics.first_row[index]), int(topics.first_row[index]) + count)
        sets = tuple(frozenset(racks[r] for r in cells[bounds[row] : bounds[row + 1]] if r >= 0) for row in rows)
        weights = () if request.weights is None else tuple(request.weights[rows.start : rows.stop].tolist())
        views.append(TopicView(name, count, sets, weights))
    return tuple(views)


def member_views(request: AssignmentRequest) -> tuple[MemberView, ...]:
    """Members in column order."""
    members, names, racks = request.members, request.topics.names.strings, request.rack_names
    subscribed, owned = members.subscription_offsets.tolist(), members.owned_offsets.tolist()
    return tuple(
        MemberView(
            id=member_id,
            topics=tuple(names[t] for t in members.subscription_topics[subscribed[i] : subscribed[i + 1]].tolist()),
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
