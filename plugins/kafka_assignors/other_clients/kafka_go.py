"""kafka-go (github.com/segmentio/kafka-go): range, round robin and rack affinity.

Promises: each topic is dealt evenly among its k subscribers (range, round robin: counts differ by one at most). No
stickiness; instance ids do not count. An unknown topic leaves the whole group without partitions, so
``MapOrder.LEADER`` refuses it; other orders skip it. O(partitions + subscriptions + M log M).

Differences from Java, with 5 partitions of t and 2 of u for members a and b:
- range: the i-th of k subscribers gets partitions ⌊i·n/k⌋ to ⌊(i+1)·n/k⌋ − 1: t 0-1 for a and 2-4 for b.
- round robin restarts at each topic: t 0 2 4 for a and 1 3 for b, then u 0 for a and 1 for b; Java gives u 0 to b.
- A member that lists a topic twice counts twice.

Rack affinity: members take the partitions whose leader is in their rack. Per topic, with n partitions and k
subscribers in JoinGroup order, target = ⌊n / k⌋ and n mod k extra places:
1. Each member of a rack takes ⌊its partitions / its members⌋ of them, target at most. The rack's rest goes one each
   to its first members; members at the target take an extra place each.
2. The rest of all racks goes to members in their order, up to the target; one at the target or below it takes an
   extra place with it, while there are some.
Racks come in the order of a Go map: up to eight by their first partitions, from a random one on. If that changes the
answer, it ``varies``, and ours starts at the first rack.
Example: leaders in racks x, x, y; a in x, b in z: a takes t-0 (target 1) and, as extra place, t-1; b takes t-2.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from kafka_assignors.arrays import ABSENT, Ints, Longs
from kafka_assignors.contract import NO_RACK, Assignment, AssignmentRequest, MapOrder
from kafka_assignors.other_clients.member_orders import by_code_points, by_id, join_order, refuse_unknown_topics
from kafka_assignors.owned_lists import assignment_by_owner
from kafka_assignors.subscribers import subscribers_by_topic


@dataclass(frozen=True, slots=True)
class TopicDealer:
    """``turn_of``: places among k subscribers of n partitions, int64[n]."""

    turn_of: Callable[[int, int], Longs]
    name: str = ""
    versions: str = ""

    def assign(self, request: AssignmentRequest) -> Assignment:
        _refuse_as_leader(request)
        owner = _nobody(request)
        for first, end, readers in _topics(request, by_id(request.members)):
            owner[first:end] = readers[self.turn_of(end - first, len(readers))]
        return _by_owner(request, owner)


def range_of_kafka_go() -> TopicDealer:
    def turn_of(partitions: int, readers: int) -> Longs:
        ends = np.arange(1, readers + 1, dtype=np.int64) * partitions // readers
        return np.searchsorted(ends, np.arange(partitions), side="right")

    return TopicDealer(turn_of)


def round_robin_of_kafka_go() -> TopicDealer:
    return TopicDealer(lambda partitions, readers: np.arange(partitions, dtype=np.int64) % readers)


@dataclass(frozen=True, slots=True)
class RackAffinity:
    """A partition's first rack in the request is its leader's; an empty name is no rack."""

    name: str = "rack-affinity@kafka-go"
    versions: str = "kafka-go 0.4.47 – 0.4.51"

    def assign(self, request: AssignmentRequest) -> Assignment:
        _refuse_as_leader(request)
        owner, varies = _nobody(request), False
        leaders, racks = _leader_racks(request), _rack_names(request, request.members.racks)
        for first, end, readers in _topics(request, join_order(request)):
            readers_of_topic, is_open = _near_leaders(
                leaders[first:end], readers.tolist(), [racks[i] for i in readers.tolist()]
            )
            owner[first:end] = readers_of_topic
            varies |= is_open
        return replace(_by_owner(request, owner), varies=varies)


def _near_leaders(leaders: Sequence[str], readers: Sequence[int], racks: Sequence[str]) -> tuple[Ints, bool]:
    """Owners, and whether another order of racks would change them.

    ``leaders``: rack of each partition; ``racks``: of each reader, twice for one that lists the topic twice.
    """
    owner = np.full(len(leaders), ABSENT, dtype=np.int32)
    target, extra = divmod(len(leaders), len(readers))
    held = dict.fromkeys(readers, 0)
    left: list[list[int]] = []
    competing, places = [], extra
    for rack in dict.fromkeys(leaders):
        rows = [row for row, name in enumerate(leaders) if name == rack]
        near = [reader for reader, name in zip(readers, racks, strict=True) if name == rack]
        each = min(len(rows) // len(near), target) if near else 0
        more = min(len(rows) - each * len(near), len(near))
        if near and each == target:
            competing.append(more)
            more = min(more, extra)
            extra -= more
        for i, reader in enumerate([*np.repeat(near, each).tolist(), *near[:more]]):
            owner[rows[i]] = reader
            held[reader] += 1
        left.append(rows[each * len(near) + more :])
    rest = [row for rows in left for row in rows]
    shares = []
    for reader in readers:
        share = target - held[reader]
        if share >= 0 and extra > 0:
            share, extra = share + 1, extra - 1
        if share > 0:
            taken, rest = rest[:share], rest[share:]
            owner[taken] = reader
            held[reader] += len(taken)
            shares.append(len(taken))
    is_contended = sum(competing) > places > 0 and sum(map(bool, competing)) > 1
    takers = len(shares) + bool(rest)  # a reader that lists the topic twice can leave some to nobody
    return owner, is_contended or (sum(map(bool, left)) > 1 and takers > 1)


def _topics(request: AssignmentRequest, order: Longs) -> list[tuple[int, int, Ints]]:
    members, rows = request.members, request.topics.first_row.tolist()
    columns = (members.subscription_offsets, members.subscription_topics)
    starts, readers = subscribers_by_topic(order, *columns, len(request.topics), False)
    spans = zip(pairwise(rows), pairwise(starts.tolist()), strict=True)
    return [(first, end, readers[low:high]) for (first, end), (low, high) in spans if first < end and low < high]


def _leader_racks(request: AssignmentRequest) -> list[str]:
    offsets, racks = request.topics.rack_offsets, request.topics.racks
    firsts = np.full(request.topics.partition_total, NO_RACK, dtype=np.int32)
    has_rack = np.diff(offsets) > 0
    firsts[has_rack] = racks[offsets[:-1][has_rack]]
    return _rack_names(request, firsts)


def _rack_names(request: AssignmentRequest, racks: Ints) -> list[str]:
    return ["" if rack == NO_RACK else request.rack_names[rack] for rack in racks.tolist()]


def _refuse_as_leader(request: AssignmentRequest) -> None:
    if request.order is MapOrder.LEADER:
        refuse_unknown_topics(request, "UnknownTopicOrPartition")


def _nobody(request: AssignmentRequest) -> Ints:
    return np.full(request.topics.partition_total, ABSENT, dtype=np.int32)


def _by_owner(request: AssignmentRequest, owner: Ints) -> Assignment:
    return assignment_by_owner(owner, request.topics, by_code_points(request.topics.names), len(request.members))
