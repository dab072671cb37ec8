"""A group as franz-go numbers it: members in their order, partitions topic by topic in the order of a Go map."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from kafka_rebalance.arrays import Longs
from kafka_rebalance.assignors.other_clients.member_orders import by_code_points, static_first
from kafka_rebalance.assignors.request import AssignmentRequest


@dataclass(frozen=True, slots=True)
class Claim:
    """A member says that it owned a partition, a row of the request, in ``generation``; −1 counts as 0."""

    member: int
    row: int
    generation: int


@dataclass(frozen=True, slots=True)
class Group:
    """``members``: the request's, sorted. ``reads``: topics of each, in that order. ``claims`` in that order, too.

    ``topics`` are those of the request that somebody reads and that have partitions; ``name_ranks`` of all of them.
    ``has_rivals``: a partition is claimed twice; Go walks the second claims in any order, too.
    """

    request: AssignmentRequest
    members: tuple[int, ...]
    reads: tuple[frozenset[int], ...]
    claims: tuple[Claim, ...]
    topics: tuple[int, ...]
    name_ranks: tuple[int, ...]

    @property
    def has_rivals(self) -> bool:
        return len({claim.row for claim in self.claims}) < len(self.claims)

    @classmethod
    def of(cls, request: AssignmentRequest, generations: Sequence[int]) -> Group:
        """``generations``: of each member of the request, as its data or its Subscription says."""
        columns, counts = request.members, request.topics.partition_counts.tolist()
        bounds = columns.subscription_offsets.tolist()
        listed = columns.subscription_topics.tolist()
        members = static_first(columns).tolist()
        reads = [frozenset(listed[bounds[member] : bounds[member + 1]]) for member in members]
        subscribed = frozenset[int]().union(*reads)
        names = by_code_points(request.topics.names)
        ranks = np.empty(len(names), dtype=np.int64)
        ranks[names] = np.arange(len(names))
        return cls(
            request,
            tuple(members),
            tuple(reads),
            tuple(_claims(request, members, generations)),
            tuple(topic for topic, count in enumerate(counts) if count > 0 and topic in subscribed),
            tuple(ranks.tolist()),
        )


def _claims(request: AssignmentRequest, members: list[int], generations: Sequence[int]) -> list[Claim]:
    """Of partitions that exist."""
    columns, first_row = request.members, request.topics.first_row.tolist()
    counts = request.topics.partition_counts.tolist()
    topics, partitions = columns.owned_topics.tolist(), columns.owned_partitions.tolist()
    spans = list(pairwise(columns.owned_offsets.tolist()))
    return [
        Claim(number, first_row[topics[at]] + partitions[at], max(0, generations[member]))
        for number, member in enumerate(members)
        for at in range(*spans[member])
        if 0 <= partitions[at] < counts[topics[at]]
    ]


class Numbering:
    """Topics in one order of a map: partition numbers run through them."""

    def __init__(self, group: Group, topics: Sequence[int]) -> None:
        first_row, counts = group.request.topics.first_row, group.request.topics.partition_counts
        spans = [np.arange(first_row[topic], first_row[topic] + counts[topic]) for topic in topics]
        self.rows: Longs = np.concatenate([np.zeros(0, dtype=np.int64), *spans])
        self.topic_of: list[int] = np.repeat(np.arange(len(topics)), [len(span) for span in spans]).tolist()
        self.partition_of: list[int] = np.concatenate([np.zeros(0, np.int64), *map(_indices, spans)]).tolist()
        self.name_rank: list[int] = [group.name_ranks[topic] for topic in topics]
        number = np.full(group.request.topics.partition_total, -1, dtype=np.int64)
        number[self.rows] = np.arange(len(self.rows))
        self.number_of: list[int] = number.tolist()
        place = {topic: i for i, topic in enumerate(topics)}
        self.reads = [frozenset(place[topic] for topic in topics if topic in place) for topics in group.reads]
        self.readers = [[m for m, topics in enumerate(self.reads) if i in topics] for i in range(len(topics))]


def _indices(span: Longs) -> Longs:
    return np.arange(len(span))
