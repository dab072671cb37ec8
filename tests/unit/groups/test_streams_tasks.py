from dataclasses import replace

import numpy as np
import pytest

from kafka_rebalance.groups.group_input import GroupInput, standby_replicas_of
from kafka_rebalance.groups.streams_tasks import (
    JOINS,
    MOST_DEATHS,
    MissingPart,
    StreamsReplay,
    StreamsScenario,
    StreamsScore,
    replay_streams_group,
)
from kafka_rebalance.scoring.assignment_scores import PartitionRates
from kafka_rebalance.snapshot.group import Group, GroupType, Member, Subtopology, Tasks
from kafka_rebalance.snapshot.model import Broker

STATEFUL = Subtopology("0", ("orders",), (), ("app-changelog",))


def member(name: str, process: str, active: tuple[int, ...] = (), standby: tuple[int, ...] = ()) -> Member:
    tasks = Tasks(*((("0", numbers),) if numbers else () for numbers in (active, standby)))
    return Member(name, process_id=process, tasks=tasks, target_tasks=tasks, subscription=("orders",))


def asked(
    *members: Member, standbys: int | None = 1, version: str | None = "4.3.1", part: Subtopology = STATEFUL
) -> GroupInput:
    """A group that reads ``orders``, of four partitions."""
    group = Group("app", GroupType.STREAMS, state="Stable", members=members, subtopologies=(part,))
    unknown = np.full(4, np.nan)
    rates = PartitionRates(unknown, unknown, unknown)
    return GroupInput(
        group, ("orders",), np.array([4], np.int32), rates, kafka_version=version, standby_replicas=standbys
    )


PAIR = (member("a", "p", (0, 1), (2, 3)), member("b", "q", (2, 3), (0, 1)))


def rows_of(replay: StreamsReplay, scenario: StreamsScenario) -> list[StreamsScore]:
    return [row for row in replay.rows if row.scenario is scenario]


def test_today_and_a_second_target_that_changes_nothing() -> None:
    replay = replay_streams_group(asked(*PAIR))
    (today,) = rows_of(replay, StreamsScenario.TODAY)
    assert (today.members, today.processes, today.active_tasks, today.standby_tasks) == (2, 2, 4, 4)
    assert (today.most_active, today.least_active, today.idle_members, today.standbys_missing) == (2, 2, 0, 0)
    assert rows_of(replay, StreamsScenario.NEXT_TARGET) == [replace(today, scenario=StreamsScenario.NEXT_TARGET)]
    assert replay.is_reproduced is True


def test_an_instance_that_dies_hands_its_tasks_to_the_one_with_their_state() -> None:
    rows = rows_of(replay_streams_group(asked(*PAIR)), StreamsScenario.INSTANCE_DIES)
    assert [row.instances for row in rows] == [("p",), ("q",)]
    for row in rows:
        assert (row.members, row.most_active, row.standby_tasks, row.standbys_missing) == (1, 4, 0, 4)
        assert (row.active_moved, row.active_restored, row.standbys_restored) == (2, 0, 0)


def test_without_standbys_the_state_of_what_moves_is_restored() -> None:
    bare = (member("a", "p", (0, 1)), member("b", "q", (2, 3)))
    for row in rows_of(replay_streams_group(asked(*bare, standbys=0)), StreamsScenario.INSTANCE_DIES):
        assert (row.active_moved, row.active_restored, row.standbys_missing) == (2, 2, 0)
    stateless = asked(*bare, standbys=0, part=replace(STATEFUL, changelog_topics=()))
    for row in rows_of(replay_streams_group(stateless), StreamsScenario.INSTANCE_DIES):
        assert (row.active_moved, row.active_restored) == (2, 0)


def test_an_instance_that_joins_restores_all_that_it_gets() -> None:
    rows = rows_of(replay_streams_group(asked(*PAIR)), StreamsScenario.INSTANCE_JOINS)
    assert len(rows) == JOINS
    assert len({row.instances for row in rows}) == JOINS
    for row in rows:
        assert (row.members, row.processes, row.active_tasks, row.standby_tasks) == (3, 3, 4, 4)
        assert (row.active_moved, row.active_restored, row.most_active, row.least_active) == (1, 1, 2, 1)
        assert row.standbys_restored > 0


def test_many_instances_are_drawn_and_half_of_them_die_at_once() -> None:
    many = [member(f"m{i}", f"p{i}", *(((i,), ()) if i < 4 else ())) for i in range(20)]
    replay = replay_streams_group(asked(*many, standbys=0), seed=3)
    dying = [row.instances for row in rows_of(replay, StreamsScenario.INSTANCE_DIES)]
    assert len(set(dying)) == MOST_DEATHS
    (halved,) = rows_of(replay, StreamsScenario.INSTANCES_HALVED)
    assert (len(set(halved.instances)), halved.members, halved.active_tasks, halved.idle_members) == (10, 10, 4, 6)
    assert replay == replay_streams_group(asked(*many, standbys=0), seed=3)
    assert replay != replay_streams_group(asked(*many, standbys=0), seed=4)


def test_a_lone_instance_does_not_die_and_threads_of_one_leave_together() -> None:
    lone = replay_streams_group(asked(member("a", "p", (0, 1)), member("b", "p", (2, 3)), standbys=0))
    assert {row.scenario for row in lone.rows}.isdisjoint({StreamsScenario.INSTANCE_DIES})
    (joined, *_) = rows_of(lone, StreamsScenario.INSTANCE_JOINS)
    assert (joined.members, joined.processes) == (4, 2)
    empty = replay_streams_group(asked())
    assert [(row.scenario, row.members, row.active_tasks) for row in empty.rows] == [(StreamsScenario.TODAY, 0, 0)]


def test_an_assignment_that_the_class_does_not_give_is_not_reproduced() -> None:
    uneven = asked(member("a", "p", (0, 1, 2)), member("b", "q", (3,)), standbys=0)
    replay = replay_streams_group(uneven)
    assert replay.is_reproduced is False
    assert rows_of(replay, StreamsScenario.NEXT_TARGET)[0].active_moved == 1


@pytest.mark.parametrize(
    ("changed", "missing"),
    [
        (asked(*PAIR, version="4.4.0"), [MissingPart.TASK_OFFSETS]),
        (asked(*PAIR, version="4.4.0", part=replace(STATEFUL, changelog_topics=())), []),
        (asked(*PAIR, version=None), [MissingPart.RELEASE]),
        (asked(*PAIR, version="4"), [MissingPart.RELEASE]),
        (asked(*PAIR, version="4.1.2"), [MissingPart.RELEASE]),
        (asked(*PAIR, part=Subtopology("0", ("gone",))), [MissingPart.PARTITION_COUNTS]),
        (asked(replace(PAIR[0], process_id=None), PAIR[1]), [MissingPart.PROCESS_IDS]),
        (asked(replace(PAIR[0], tasks=None, target_tasks=None), PAIR[1]), [MissingPart.TASKS]),
        (asked(replace(PAIR[0], target_tasks=Tasks()), PAIR[1]), [MissingPart.SETTLED_STATE]),
    ],
)
def test_a_part_that_is_missing_is_named_and_nothing_is_guessed(
    changed: GroupInput, missing: list[MissingPart]
) -> None:
    replay = replay_streams_group(changed)
    assert list(replay.missing) == missing
    reported = [row.scenario for row in replay.rows if row.scenario is not StreamsScenario.TODAY]
    assert bool(reported) == (not missing)
    assert (replay.today is None) == (MissingPart.TASKS in missing)
    assert (replay.gap is None) == (missing in ([], [MissingPart.SETTLED_STATE]))
    if replay.today is not None:
        assert (replay.today.active_tasks, replay.today.standby_tasks) == (4, 4)
        assert (replay.today.processes is None) == (MissingPart.PROCESS_IDS in missing)
        assert (replay.today.standbys_missing is None) == (MissingPart.PARTITION_COUNTS in missing)


def test_task_offsets_of_4_4_are_asked_of_all_members_and_decide_who_is_a_backup() -> None:
    """b reports offsets of task 2, so it is a backup of it beside a's owner: one standby goes to another process."""
    members = (member("a", "p", (2,), (0, 3)), member("b", "q", (1,)), member("c", "r", (0, 3), (1, 2)))
    reported = [replace(item, task_offsets=()) for item in members]
    known = [reported[0], replace(reported[1], task_offsets=(("0", ((2, 9),)),)), reported[2]]
    for given in (members, (reported[0], *members[1:])):
        assert replay_streams_group(asked(*given, version="4.4.0")).missing == (MissingPart.TASK_OFFSETS,)
    for given, restored in ((reported, 0), (known, 1)):
        (row,) = rows_of(replay_streams_group(asked(*given, version="4.4.0")), StreamsScenario.NEXT_TARGET)
        assert (row.active_moved, row.standbys_restored) == (0, restored)


def test_another_assignor_than_sticky_is_not_replayed() -> None:
    given = asked(*PAIR)
    for changed in (
        replace(given.group, protocol="ours"),
        replace(given.group, configs={"streams.assignor.name": "ours"}),
    ):
        assert replay_streams_group(replace(given, group=changed)).missing == (MissingPart.ASSIGNOR,)
    assert replay_streams_group(replace(given, group=replace(given.group, protocol="sticky"))).missing == ()


def test_the_topology_and_the_standbys_may_be_missing() -> None:
    bare = asked(*PAIR, standbys=None)
    bare = replace(bare, group=replace(bare.group, subtopologies=(), state="Assigning"))
    assert list(replay_streams_group(bare).missing) == [
        MissingPart.SETTLED_STATE, MissingPart.TOPOLOGY, MissingPart.STANDBY_REPLICAS,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("own", "brokers", "expected"),
    [("2", ["1"], 2), (None, ["1", "1"], 1), (None, ["1", "0"], None), (None, [None], None), (None, [], None)],
)
def test_standbys_are_those_of_the_group_else_the_common_ones_of_the_brokers(
    own: str | None, brokers: list[str | None], expected: int | None
) -> None:
    group = Group("app", GroupType.STREAMS, configs={} if own is None else {"streams.num.standby.replicas": own})
    reported = [{} if value is None else {"group.streams.num.standby.replicas": value} for value in brokers]
    assert standby_replicas_of(group, [Broker(i, configs=configs) for i, configs in enumerate(reported)]) == expected
