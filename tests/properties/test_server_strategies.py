"""Strategies of coordinators and MetaQ hear of topics that nobody reads, too: they give out none of these.

What each strategy promises beside is declared in ``promises``.
"""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_assignors.contract import Assignment, AssignmentRequest
from kafka_assignors.registry import by_name
from tests.unit.assignors.groups import answer, group

TOPICS = ("t", "u", "v")
SINGLE_OWNER = ("server-range", "server-uniform", "server-uniform@4.0.0", "metaq-default", "metaq-consistent", "random")


@st.composite
def groups(draw: st.DrawFn) -> AssignmentRequest:
    """Up to three topics and eight members, of which some own something that is theirs to own."""
    counts = {topic: draw(st.integers(1, 9)) for topic in TOPICS}
    members = [f"m-{i}" for i in draw(st.lists(st.integers(0, 50), min_size=1, max_size=8, unique=True))]
    subset = st.lists(st.sampled_from(TOPICS), min_size=1, unique=True)
    subscriptions = {member: draw(subset) for member in members}
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
