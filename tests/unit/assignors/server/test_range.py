from __future__ import annotations

import random

import pytest

from kafka_assignors.contract import AssignmentRequest
from kafka_assignors.errors import AssignorError
from kafka_assignors.server.range import ServerRangeAssignor
from tests.unit.assignors.groups import answer, group

Lists = dict[str, list[tuple[str, int]]]


def assigned(request: AssignmentRequest) -> Lists:
    result = answer(request, ServerRangeAssignor().assign(request))
    return {member: sorted(pairs) for member, pairs in result.items()}


def said_plainly(counts: dict[str, int], subscriptions: dict[str, list[str]], static: dict[str, str]) -> Lists:
    """Static members first, by instance id, then the others by id; of each topic contiguous shares."""
    ranked = sorted(subscriptions, key=lambda member: (member not in static, static.get(member, member)))
    results: Lists = {member: [] for member in subscriptions}
    for topic, count in counts.items():
        readers = [member for member in ranked if topic in subscriptions[member]]
        first = 0
        for turn, member in enumerate(readers):
            length = count // len(readers) + (turn < count % len(readers))
            results[member] += [(topic, partition) for partition in range(first, first + length)]
            first += length
    return {member: sorted(pairs) for member, pairs in results.items()}


@pytest.mark.parametrize("is_homogeneous", [True, False])
def test_each_topic_is_cut_into_contiguous_shares(is_homogeneous: bool) -> None:
    """150 groups: some members static, a topic listed twice by some, topics without a partition or a reader."""
    draw = random.Random(is_homogeneous)
    for _ in range(150):
        counts = {f"t{i}": draw.choice((0, 1, 2, 5, 12)) for i in range(draw.randint(1, 5))}
        members = draw.sample([f"m{i}" for i in range(12)], draw.randint(1, 8))
        shared = draw.sample(sorted(counts), draw.randint(1, len(counts)))
        read = dict.fromkeys(members, shared)
        if not is_homogeneous:
            read = {member: draw.sample(sorted(counts), draw.randint(0, len(counts))) for member in members}
        listed = {member: [*topics, *topics[: draw.randint(0, 1)]] for member, topics in read.items()}
        static = {member: f"pod-{member[::-1]}" for member in members if draw.random() < 0.3}
        request = group(counts, listed, static=static, is_homogeneous=is_homogeneous)
        assert assigned(request) == said_plainly(counts, read, static)


@pytest.mark.parametrize("is_homogeneous", [True, False])
def test_a_topic_without_metadata_is_refused_and_one_that_nobody_reads_is_not(is_homogeneous: bool) -> None:
    readers = {"a": ["t", "gone"], "b": ["t", "gone"]}
    with pytest.raises(AssignorError, match="Member is subscribed to a non-existent topic"):
        assigned(group({"t": 2}, readers, is_homogeneous=is_homogeneous))
    owned = {"a": [("gone", 0)]}
    request = group({"t": 2}, {"a": ["t"], "b": ["t"]}, owned, is_homogeneous=is_homogeneous)
    assert assigned(request) == {"a": [("t", 0)], "b": [("t", 1)]}


def test_nobody_gets_nothing() -> None:
    assert assigned(group({"t": 2}, {})) == {}
