"""Groups whose members say what they own and in which generation; answers as lists such as ["t-0"]."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from kafka_assignors.contract import Assignment, AssignmentRequest, MapOrder
from kafka_assignors.registry import by_name
from tests.unit.assignors.groups import Owned, group

Lists = list[list[str]]


def request_with(
    counts: Mapping[str, int],
    subscriptions: Mapping[str, Sequence[str]],
    owned: Owned,
    generations: Sequence[int | None] = (),
) -> AssignmentRequest:
    """``generations`` as sent in user data and in the Subscription, all 5 if none are given."""
    request = group(counts, subscriptions, owned, order=MapOrder.GIVEN)
    sent = list(generations) or [5] * len(subscriptions)
    numbers = np.array([-1 if generation is None else generation for generation in sent], np.int32)
    members = replace(
        request.members,
        data_generations=numbers,
        generations=numbers,
        sent_generation=np.array([generation is not None for generation in sent]),
    )
    return replace(request, members=members)


def member_lists(request: AssignmentRequest, assignment: Assignment) -> Lists:
    """Each member's list, in order."""
    names = request.topics.names
    return [[f"{names[t]}-{p}" for t, p in assignment.of_member(i)] for i in range(len(request.members))]


def answer(
    name: str,
    counts: Mapping[str, int],
    subscriptions: Mapping[str, Sequence[str]],
    owned: Owned,
    generations: Sequence[int | None] = (),
) -> Lists:
    """Assignment of the strategy of that name."""
    request = request_with(counts, subscriptions, owned, generations)
    return member_lists(request, by_name(name).assign(request))


def t(*partitions: int) -> list[tuple[str, int]]:
    """Partitions of topic t."""
    return [("t", partition) for partition in partitions]
