"""Random groups for properties of strategies: some owned partitions, any or equal subscriptions, racks or none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from hypothesis import strategies as st

from kafka_assignors.contract import Assignment, AssignmentRequest
from tests.unit.assignors.groups import group

Pair = tuple[str, int]
TOPICS = ("t", "u", "v")
RACKS = ("east", "west")


@dataclass(frozen=True, slots=True)
class Kind:
    """Which groups a promise holds for."""

    is_equal: bool = False  # all members subscribe to the same topics
    is_fresh: bool = False  # nobody owns anything
    has_racks: bool = False


@st.composite
def groups(draw: st.DrawFn, kind: Kind = Kind(), most_partitions: int = 9) -> AssignmentRequest:
    """Up to three topics and eight members; each owns at most what it subscribes to, nothing is claimed twice."""
    members = [f"m-{i}" for i in draw(st.lists(st.integers(0, 50), min_size=1, max_size=8, unique=True))]
    subset = st.lists(st.sampled_from(TOPICS), min_size=1, unique=True)
    common = draw(subset)
    subscriptions = {member: common if kind.is_equal else draw(subset) for member in members}
    # Kafka asks a client's strategy about subscribed topics alone.
    topics = [topic for topic in TOPICS if any(topic in subscription for subscription in subscriptions.values())]
    counts = {topic: draw(st.integers(1, most_partitions)) for topic in topics}
    owned: dict[str, list[Pair]] = {member: [] for member in members}
    pairs = [(topic, partition) for topic, count in counts.items() for partition in range(count)]
    owners = [-1] * len(pairs)
    if not kind.is_fresh:
        # Beyond the members nobody owns it: so lots lie both on one member and on none.
        owners = draw(st.lists(st.integers(0, len(members) + 3), min_size=len(pairs), max_size=len(pairs)))
    for (topic, partition), owner in zip(pairs, owners, strict=True):
        readers = [member for member in members if topic in subscriptions[member]]
        if 0 <= owner < len(readers):
            owned[readers[owner]].append((topic, partition))
    request = group(counts, subscriptions, owned, seed=draw(st.integers(0, 3)))
    return _with_racks(draw, request) if kind.has_racks else request


def _with_racks(draw: st.DrawFn, request: AssignmentRequest) -> AssignmentRequest:
    total, members = request.topics.partition_total, len(request.members)
    rack_of = draw(st.lists(st.integers(-1, 1), min_size=members, max_size=members))
    replicas = draw(st.lists(st.integers(0, 1), min_size=total, max_size=total))  # one each: racks matter
    topics = replace(request.topics, rack_offsets=np.arange(total + 1), racks=np.array(replicas, np.int32))
    return replace(
        request, topics=topics, rack_names=RACKS, members=replace(request.members, racks=np.array(rack_of, np.int32))
    )


def held(request: AssignmentRequest, assignment: Assignment) -> list[list[Pair]]:
    """Partitions of each member, those that it gets once their owners have given them up among them."""
    names = request.topics.names
    lists = [
        [(names[topic], partition) for topic, partition in assignment.of_member(i)] for i in range(len(request.members))
    ]
    withheld = assignment.withheld
    for topic, partition, member in zip(withheld.topics, withheld.partitions, withheld.members, strict=True):
        lists[member].append((names[topic], int(partition)))
    return lists


def owned(request: AssignmentRequest) -> list[set[Pair]]:
    """What each member said it owns."""
    names, members = request.topics.names, request.members
    bounds = members.owned_offsets.tolist()
    pairs = [
        (names[topic], int(partition))
        for topic, partition in zip(members.owned_topics.tolist(), members.owned_partitions.tolist(), strict=True)
    ]
    return [set(pairs[begin:end]) for begin, end in pairwise(bounds)]


def reads(request: AssignmentRequest) -> list[list[str]]:
    """Topics that each member subscribes to."""
    names, bounds = request.topics.names, request.members.subscription_offsets.tolist()
    topics = [names[topic] for topic in request.members.subscription_topics.tolist()]
    return [topics[begin:end] for begin, end in pairwise(bounds)]


def partitions_read(request: AssignmentRequest) -> list[Pair]:
    """Every partition of every topic that somebody subscribes to."""
    subscribed = {topic for topics in reads(request) for topic in topics}
    counts = zip(request.topics.names, request.topics.partition_counts.tolist(), strict=True)
    return [(topic, partition) for topic, count in counts if topic in subscribed for partition in range(count)]


def owning(request: AssignmentRequest, lists: Sequence[Sequence[Pair]]) -> AssignmentRequest:
    """The same group, asked again when its members own ``lists``."""
    names = {name: number for number, name in enumerate(request.topics.names)}
    flat = np.array([(names[topic], partition) for topics in lists for topic, partition in topics], np.int32).reshape(
        -1, 2
    )
    offsets = np.concatenate(([0], np.cumsum([len(topics) for topics in lists]))).astype(np.int64)
    members = replace(
        request.members,
        owned_offsets=offsets,
        owned_topics=flat[:, 0].copy(),
        owned_partitions=flat[:, 1].copy(),
        has_owned=np.diff(offsets) > 0,
    )
    return replace(request, members=members)


def without_member(request: AssignmentRequest, leaver: int) -> AssignmentRequest:
    """The same group when one member has left; the others own what they did."""
    stay = [i for i in range(len(request.members)) if i != leaver]
    counts = dict(zip(request.topics.names, request.topics.partition_counts.tolist(), strict=True))
    topics, had = reads(request), owned(request)
    ids = request.members.ids
    return group(counts, {ids[i]: topics[i] for i in stay}, {ids[i]: sorted(had[i]) for i in stay}, seed=request.seed)
