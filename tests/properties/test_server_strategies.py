"""What the coordinator's and MetaQ's strategies promise, whatever the group: declared as each really promises it.

``uniform`` is even only where all members subscribe alike; consistent hashing not at all; share groups give a
partition several readers on purpose.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_rebalance.assignors.assignment import Assignment
from kafka_rebalance.assignors.registry import by_name
from kafka_rebalance.assignors.request import AssignmentRequest
from tests.unit.assignors.groups import answer, group

TOPICS = ("t", "u", "v")
SINGLE_OWNER = ("server-range", "server-uniform", "server-uniform@4.0.0", "metaq-default", "metaq-consistent", "random")
EVEN_WHERE_EQUAL = ("server-uniform", "server-uniform@4.0.0")


@st.composite
def groups(draw: st.DrawFn, *, is_equal: bool = False) -> AssignmentRequest:
    """Up to three topics and eight members, of which some own something that is theirs to own."""
    counts = {topic: draw(st.integers(1, 9)) for topic in TOPICS}
    members = [f"m-{i}" for i in draw(st.lists(st.integers(0, 50), min_size=1, max_size=8, unique=True))]
    subset = st.lists(st.sampled_from(TOPICS), min_size=1, unique=True)
    common = draw(subset)
    subscriptions = {member: common if is_equal else draw(subset) for member in members}
    owned: dict[str, list[tuple[str, int]]] = {member: [] for member in members}
    for topic, count in counts.items():
        readers = [member for member in members if topic in subscriptions[member]]
        for partition in range(count):
            if readers and draw(st.booleans()):
                owned[draw(st.sampled_from(readers))].append((topic, partition))
    return group(counts, subscriptions, owned, seed=draw(st.integers(0, 3)))


def owners(request: AssignmentRequest, assignment: Assignment) -> dict[tuple[str, int], list[str]]:
    held: dict[tuple[str, int], list[str]] = {}
    for member, pairs in answer(request, assignment).items():
        for pair in pairs:
            held.setdefault(pair, []).append(member)
    return held


def subscribed(request: AssignmentRequest) -> set[int]:
    return set(request.members.subscription_topics.tolist())


@pytest.mark.parametrize("name", SINGLE_OWNER)
@settings(max_examples=25, deadline=None)
@given(request=groups())
def test_every_subscribed_partition_has_one_owner_who_subscribes(name: str, request: AssignmentRequest) -> None:
    held = owners(request, by_name(name).assign(request))
    counts, names = request.topics.partition_counts, request.topics.names
    assert set(held) == {(names[t], p) for t in subscribed(request) for p in range(int(counts[t]))}
    bounds, topics = request.members.subscription_offsets, request.members.subscription_topics
    reads = {
        m: {names[t] for t in topics[bounds[i] : bounds[i + 1]].tolist()} for i, m in enumerate(request.members.ids)
    }
    for (topic, _), members in held.items():
        assert len(members) == 1
        assert topic in reads[members[0]]


@pytest.mark.parametrize("name", [*SINGLE_OWNER, "share-simple", "share-simple@4.0"])
@settings(max_examples=20, deadline=None)
@given(request=groups())
def test_the_same_question_has_the_same_answer(name: str, request: AssignmentRequest) -> None:
    once, again = (by_name(name).assign(request) for _ in range(2))
    for one, other in zip(
        (once.offsets, once.topics, once.partitions), (again.offsets, again.topics, again.partitions), strict=True
    ):
        assert one.tolist() == other.tolist()


@pytest.mark.parametrize("name", EVEN_WHERE_EQUAL)
@settings(max_examples=30, deadline=None)
@given(request=groups(is_equal=True))
def test_uniform_differs_by_one_at_most_and_nobody_loses_more_than_it_holds_over_its_quota(
    name: str, request: AssignmentRequest
) -> None:
    assignment = by_name(name).assign(request)
    counts = assignment.counts
    assert counts.max() - counts.min() <= 1
    names, members = request.topics.names, request.members
    for i in range(len(members)):
        span = slice(int(members.owned_offsets[i]), int(members.owned_offsets[i + 1]))
        had = set(zip(members.owned_topics[span].tolist(), members.owned_partitions[span].tolist(), strict=True))
        kept = had & set(assignment.of_member(i))
        # Who keeps less than it had is full: nothing was taken for nothing.
        assert kept == had or len(kept) == counts[i], names.strings


@settings(max_examples=30, deadline=None)
@given(request=groups(is_equal=True))
def test_uniform_asked_again_with_its_own_answer_moves_nothing(request: AssignmentRequest) -> None:
    assignor = by_name("server-uniform")
    first = answer(request, assignor.assign(request))
    names = request.topics.names.strings
    counts = dict(zip(names, request.topics.partition_counts.tolist(), strict=True))
    bounds, topics = request.members.subscription_offsets, request.members.subscription_topics
    lists = {
        m: [names[t] for t in topics[bounds[i] : bounds[i + 1]].tolist()] for i, m in enumerate(request.members.ids)
    }
    settled = group(counts, lists, first)
    second = answer(settled, assignor.assign(settled))
    assert {member: set(pairs) for member, pairs in second.items()} == {m: set(pairs) for m, pairs in first.items()}


@settings(max_examples=25, deadline=None)
@given(request=groups(is_equal=True))
def test_range_counts_of_a_topic_differ_by_one_at_most(request: AssignmentRequest) -> None:
    assignment = by_name("server-range").assign(request)
    readers = np.repeat(np.arange(len(request.members)), assignment.counts)
    for topic in subscribed(request):
        counts = np.bincount(readers[assignment.topics == topic], minlength=len(request.members))
        assert counts.max() - counts.min() <= 1


@settings(max_examples=30, deadline=None)
@given(request=groups(is_equal=True))
def test_in_a_share_group_each_partition_has_its_readers_and_nobody_reads_it_twice(request: AssignmentRequest) -> None:
    held = owners(request, by_name("share-simple").assign(request))
    total = int(sum(request.topics.partition_counts[t] for t in subscribed(request)))
    sharing = -(-len(request.members) // total)
    for members in held.values():
        assert len(set(members)) == len(members) <= sharing
    assert len(held) == total
