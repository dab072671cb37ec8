"""What the sticky assignor of Streams groups promises in every group, and what it does not."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_assignors.streams import (
    STREAMS_STICKY,
    MemberTasks,
    StreamsMember,
    StreamsRequest,
    StreamsStickyAssignor,
    StreamsSubtopology,
    Task,
)

EACH_RELEASE = pytest.mark.parametrize("assignor", STREAMS_STICKY, ids=lambda assignor: assignor.versions)


@st.composite
def fresh_groups(draw: st.DrawFn) -> StreamsRequest:
    """Up to four subtopologies and eight members on up to five processes; nobody has a task."""
    sizes = draw(st.lists(st.tuples(st.integers(0, 6), st.booleans()), min_size=1, max_size=4))
    processes = draw(st.lists(st.integers(0, 4), min_size=1, max_size=8))
    names = draw(st.lists(st.integers(0, 99), min_size=len(processes), max_size=len(processes), unique=True))
    return StreamsRequest(
        subtopologies=tuple(StreamsSubtopology(str(i), size, stateful) for i, (size, stateful) in enumerate(sizes)),
        members=tuple(
            StreamsMember(id=f"m-{name}", process_id=f"p-{process}")
            for name, process in zip(names, processes, strict=True)
        ),
        standby_replicas=draw(st.integers(0, 3)),
    )


@st.composite
def groups(draw: st.DrawFn) -> StreamsRequest:
    """The same with any past: several owners of a task, its standby on the owner, tasks that are gone."""
    request = draw(fresh_groups())
    task = st.builds(Task, st.sampled_from("01234"), st.integers(0, 6))
    some = st.lists(task, max_size=6, unique=True).map(tuple)
    sums = st.dictionaries(task, st.integers(0, 3), max_size=4)
    return replace(
        request,
        members=tuple(
            replace(member, active=draw(some), standby=draw(some), offset_sums=draw(sums)) for member in request.members
        ),
    )


def tasks_of(request: StreamsRequest, *, is_stateful: bool = False) -> list[Task]:
    return [
        Task(part.id, number)
        for part in request.subtopologies
        if part.is_stateful or not is_stateful
        for number in range(part.tasks)
    ]


def active_counts(given_tasks: Sequence[MemberTasks]) -> list[int]:
    return [len(tasks.active) for tasks in given_tasks]


def settled(request: StreamsRequest, given_tasks: Sequence[MemberTasks]) -> StreamsRequest:
    """The group once its members have these tasks."""
    members = (
        replace(member, active=tasks.active, standby=tasks.standby)
        for member, tasks in zip(request.members, given_tasks, strict=True)
    )
    return replace(request, members=tuple(members))


@EACH_RELEASE
@given(request=groups())
def test_each_task_is_active_once_and_on_no_process_twice(
    assignor: StreamsStickyAssignor, request: StreamsRequest
) -> None:
    answer = assignor.assign(request)
    assert Counter(task for tasks in answer for task in tasks.active) == Counter(tasks_of(request))
    held = Counter(
        (member.process_id, task)
        for member, tasks in zip(request.members, answer, strict=True)
        for task in (*tasks.active, *tasks.standby)
    )
    assert set(held.values()) <= {1}


@EACH_RELEASE
@given(request=groups())
def test_a_stateful_task_has_as_many_standbys_as_there_are_processes_for(
    assignor: StreamsStickyAssignor, request: StreamsRequest
) -> None:
    copies = min(request.standby_replicas, len({member.process_id for member in request.members}) - 1)
    standbys = Counter(task for tasks in assignor.assign(request) for task in tasks.standby)
    assert standbys == Counter(tasks_of(request, is_stateful=True) * copies)


@EACH_RELEASE
@given(request=groups())
def test_no_member_has_more_active_tasks_than_the_first_quota(
    assignor: StreamsStickyAssignor, request: StreamsRequest
) -> None:
    assert max(active_counts(assignor.assign(request))) <= -(-len(tasks_of(request)) // len(request.members))


@EACH_RELEASE
@given(request=fresh_groups())
def test_in_a_group_without_a_past_active_tasks_differ_by_one_at_most(
    assignor: StreamsStickyAssignor, request: StreamsRequest
) -> None:
    counts = active_counts(assignor.assign(request))
    assert max(counts) - min(counts) <= 1


@EACH_RELEASE
@given(request=fresh_groups(), leaves=st.integers(0, 7))
def test_even_owners_keep_their_active_tasks_also_if_a_member_leaves(
    assignor: StreamsStickyAssignor, request: StreamsRequest, leaves: int
) -> None:
    answer = assignor.assign(request)
    even = settled(request, answer)
    assert [tasks.active for tasks in assignor.assign(even)] == [tasks.active for tasks in answer]
    staying = tuple(member for number, member in enumerate(even.members) if number != leaves)
    if staying:
        after = assignor.assign(replace(even, members=staying))
        kept = zip(staying, after, strict=True)
        assert all(set(member.active) <= set(tasks.active) for member, tasks in kept)


@EACH_RELEASE
@given(request=groups())
def test_an_owner_below_the_last_quota_keeps_all_that_it_alone_has(
    assignor: StreamsStickyAssignor, request: StreamsRequest
) -> None:
    """The quota never falls below ⌊tasks / members⌋."""
    wanted = set(tasks_of(request))
    owners = Counter(task for member in request.members for task in member.active)
    least = len(wanted) // len(request.members)
    for member, tasks in zip(request.members, assignor.assign(request), strict=True):
        own = {task for task in member.active if task in wanted}
        if len(own) <= least and all(owners[task] == 1 for task in own):
            assert own <= set(tasks.active)


@EACH_RELEASE
@given(request=groups())
def test_tasks_are_listed_by_subtopology_and_partition(
    assignor: StreamsStickyAssignor, request: StreamsRequest
) -> None:
    for tasks in assignor.assign(request):
        for listed in (tasks.active, tasks.standby):
            assert all(first < other for first, other in pairwise(listed))


@given(request=groups())
def test_offsets_change_nothing_to_4_3(request: StreamsRequest) -> None:
    without = replace(request, members=tuple(replace(member, offset_sums={}) for member in request.members))
    earlier = STREAMS_STICKY[1]
    assert earlier.assign(request) == earlier.assign(without)
