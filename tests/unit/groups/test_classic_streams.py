"""Classic Streams at rest: settings told by today's tasks, and what a death or a join changes."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np
import pytest

from kafka_assignors.high_availability import (
    HIGH_AVAILABILITY,
    HighAvailabilityMember,
    HighAvailabilityRequest,
    HighAvailabilitySettings,
)
from kafka_assignors.streams import Task
from kafka_rebalance.groups.group_input import GroupInput
from kafka_rebalance.groups.group_replay import ReplayOptions
from kafka_rebalance.groups.streams_tasks import MissingPart, StreamsReplay, StreamsScenario
from kafka_rebalance.scoring.assignment_scores import PartitionRates
from kafka_rebalance.snapshot.group import Group, GroupType, Member, Tasks

PROCESSES = tuple(str(uuid.UUID(int=number)) for number in (1, 2, 3))
DIES, JOINS = StreamsScenario.INSTANCE_DIES, StreamsScenario.INSTANCE_JOINS


def subscription(process: str, running: Iterable[int], tags: Mapping[str, str], version: int = 11) -> bytes:
    """As SubscriptionInfo writes it: running tasks of subtopology 0 have all of their state."""
    parts = [version.to_bytes(4), (11).to_bytes(4), uuid.UUID(process).bytes, (-1).to_bytes(4, signed=True)]
    sums = [bytes(4) + number.to_bytes(4) + (-2).to_bytes(8, signed=True) + b"\xff\xff" for number in running]
    parts += [len(sums).to_bytes(4), *sums, bytes(1), bytes(4), len(tags).to_bytes(4)]
    parts += [len(text).to_bytes(4) + text.encode() for pair in tags.items() for text in pair]
    return b"".join(parts)


def at_rest(
    processes: Iterable[str] = PROCESSES,
    tasks: int = 6,
    *,
    is_told: bool = True,
    zones: str = "",
    rack: str | None = None,
    **settings: int | tuple[str, ...],
) -> GroupInput:
    """A group of one thread an instance, with the tasks that Kafka's assignor gives it at rest."""
    listed = tuple(processes)
    tags = [{"zone": zone} for zone in zones] or [{}] * len(listed)
    members = tuple(
        HighAvailabilityMember(id=f"m{index}", process_id=process, tags=tags[index])
        for index, process in enumerate(listed)
    )
    given = HIGH_AVAILABILITY[0].assign(
        HighAvailabilityRequest(
            end_offset_sums={Task("0", number): 0 for number in range(tasks)}, stateless=(), members=members,
            settings=HighAvailabilitySettings(**settings),  # type: ignore[arg-type]
        )
    )  # fmt: skip
    threads = []
    for member, tag, had in zip(members, tags, given.members, strict=True):
        active, standby = (tuple(task.partition for task in kind) for kind in (had.active, had.standby))
        held = Tasks(*((("0", numbers),) if numbers else () for numbers in (active, standby)))
        reported = subscription(member.process_id, active if is_told else (), tag)
        threads.append(Member(member.id, process_id=member.process_id, tasks=held, user_data=reported, rack=rack))
    group = Group("app", GroupType.CLASSIC, protocol="stream", state="Stable", members=tuple(threads))
    unknown = np.full(tasks, np.nan)
    return GroupInput(group, ("orders",), np.array([tasks], np.int32), PartitionRates(unknown, unknown, unknown))


def replayed(given: GroupInput) -> StreamsReplay:
    replay = ReplayOptions(scenarios=("member_crashes",)).replay(given).streams
    assert replay is not None
    assert replay.gap is None
    return replay


def with_member(given: GroupInput, index: int, **changes: object) -> GroupInput:
    members = list(given.group.members)
    members[index] = replace(members[index], **changes)  # type: ignore[arg-type]
    return replace(given, group=replace(given.group, members=tuple(members)))


def test_a_death_moves_tasks_of_the_survivors_and_all_without_a_copy_are_restored() -> None:
    """{0, 3}, {1, 4}, {2, 5} become {0, 2, 4}, {1, 3, 5}: without the first two instances keep one task each."""
    replay = replayed(at_rest())
    assert replay.missing == ()
    assert replay.is_reproduced is True
    assert replay.at_rest is not None
    assert (replay.at_rest.standby_replicas, replay.at_rest.tags, replay.at_rest.unknown) == ((0,), ((),), ())
    row = next(row for row in replay.rows_of(DIES) if row.instances == (PROCESSES[0],))
    assert (row.processes, row.active_of_instances, row.active_moved, row.active_restored) == (2, 2, 4, 4)
    assert (row.most_active, row.least_active) == (3, 3)
    joins = replay.rows_of(JOINS)
    assert len(joins) == 3
    for row in joins:  # the first two of four get two tasks: negative ids come first
        is_first = row.instances[0][0] in "89abcdef"
        assert (row.processes, row.active_of_instances, row.most_active) == (4, 2 if is_first else 1, 2)


def test_standbys_are_told_where_there_are_more_instances_and_a_larger_setting_leaves_joins_out() -> None:
    three, two = replayed(at_rest(standby_replicas=1)), replayed(at_rest(PROCESSES[:2], 4, standby_replicas=1))
    assert three.at_rest is not None
    assert two.at_rest is not None
    assert (three.at_rest.standby_replicas, three.at_rest.unknown) == ((1,), ())
    assert (two.at_rest.standby_replicas, two.at_rest.unknown) == ((1, 2), (JOINS,))
    assert two.rows_of(JOINS) == ()
    for row in two.rows_of(DIES):
        assert (row.active_moved, row.active_restored, row.standby_tasks, row.standbys_missing) == (2, 0, 0, None)


def test_tags_are_told_by_the_standbys() -> None:
    """Instances 1 and 2 share a zone: with tags their standbys are on 3, without they are not all there."""
    tagged = replayed(at_rest(zones="xxy", standby_replicas=1, rack_aware_tags=("zone",)))
    plain = replayed(at_rest(zones="xxy", standby_replicas=1))
    assert tagged.at_rest is not None
    assert plain.at_rest is not None
    assert (tagged.at_rest.tags, plain.at_rest.tags) == ((("zone",),), ((),))


def test_state_that_no_thread_named_leaves_out_what_it_decides() -> None:
    """The tasks are the same with and without state, what is restored is not."""
    replay = replayed(at_rest(is_told=False))
    assert replay.at_rest is not None
    assert replay.at_rest.unknown == (DIES, JOINS, StreamsScenario.INSTANCES_HALVED)
    assert [row.scenario for row in replay.rows] == [StreamsScenario.TODAY]


@pytest.mark.parametrize(
    ("changed", "missing"),
    [
        (with_member(at_rest(), 0, user_data=None), MissingPart.CLIENT_RELEASE),
        (with_member(at_rest(), 0, user_data=subscription(PROCESSES[0], (), {}, 10)), MissingPart.CLIENT_RELEASE),
        (with_member(at_rest(), 0, process_id=None), MissingPart.PROCESS_IDS),
        (with_member(at_rest(), 0, tasks=None), MissingPart.TASKS),
        (with_member(at_rest(), 0, tasks=Tasks((("0", (0,)),))), MissingPart.TASKS_AT_REST),
        (with_member(at_rest(), 0, tasks=Tasks((("0", (0, 3)),), (("0", (1,)),))), MissingPart.TASKS_AT_REST),
        (with_member(at_rest(), 0, tasks=Tasks((("half__0", (0,)),))), MissingPart.TASKS_AT_REST),
        (at_rest(rack="a"), MissingPart.RACK_STRATEGY),
    ],
)
def test_what_is_missing_is_named_and_nothing_is_guessed(changed: GroupInput, missing: MissingPart) -> None:
    replay = replayed(changed)
    assert replay.missing == (missing,)
    assert (replay.at_rest, len(replay.rows)) == (None, int(missing is not MissingPart.TASKS))
    assert replay.is_reproduced is (False if missing is MissingPart.TASKS_AT_REST else None)


def test_a_group_without_tasks_has_no_tasks_to_show() -> None:
    given = at_rest()
    bare = tuple(replace(member, tasks=None) for member in given.group.members)
    changed = replace(given, group=replace(given.group, members=bare))
    assert ReplayOptions().replay(changed).streams is None
