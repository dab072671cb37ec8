"""Workers of Connect: what each runs, and what happens when one dies, returns or joins."""

import json
from dataclasses import replace

import pytest

from kafka_assignors.connect_work import NO_WORK, ConnectTask, Work
from kafka_rebalance.groups.connect_workers import (
    ConnectReplay,
    ConnectScenario,
    ConnectScore,
    MissingPart,
    replay_connect_group,
)
from kafka_rebalance.snapshot.group import ConnectWorker, Group, Member


def worker(name: str, connectors: str = "", tasks: str = "", *, version: int = 2, leader: str = "a") -> Member:
    """``tasks``: numbers of tasks of connector c."""
    runs = Work(tuple(connectors.split()), tuple(ConnectTask("c", int(number)) for number in tasks.split()))
    reported = ConnectWorker(version=version, url=f"http://{name}/", leader=leader, assigned=runs, joined_with=NO_WORK)
    return Member(name, worker=reported)


def group(*members: Member) -> Group:
    return Group("connect", protocol_type="connect", protocol="sessioned", state="Stable", members=members)


def replayed(*members: Member) -> ConnectReplay:
    connect_group = replay_connect_group(group(*members))
    assert connect_group is not None
    json.dumps(connect_group.document())
    return connect_group


def row(replay: ConnectReplay, scenario: ConnectScenario, *workers: str) -> ConnectScore:
    (only_row,) = (row for row in replay.rows_of(scenario) if not workers or row.workers == workers)
    return only_row


EVEN = worker("a", "c", "0 2"), worker("b", "", "1 3")


def test_today_as_the_workers_tell() -> None:
    replay = replayed(*EVEN, worker("i"))
    assert [(load.member_id, load.connectors, load.tasks, load.is_leader) for load in replay.loads] == [
        ("a", 1, 2, True), ("b", 0, 2, False), ("i", 0, 0, False),
    ]  # fmt: skip
    today = replay.rows[0]
    assert (replay.connectors, replay.tasks) == (1, 4)
    assert (today.worker_count, today.idle_workers, today.most_tasks, today.least_tasks) == (3, 1, 2, 0)


def test_the_work_of_a_dead_worker_stops_for_the_delay_and_that_of_a_dead_leader_moves_at_once() -> None:
    replay = replayed(*EVEN)
    assert replay.is_reproduced
    other = row(replay, ConnectScenario.WORKER_DIES, "b")
    assert (other.stopped, other.stopped_ms, other.moved, other.most_tasks) == (2, 300_000, 2, 4)
    leader = row(replay, ConnectScenario.WORKER_DIES, "a")
    assert (leader.stopped, leader.stopped_ms, leader.moved) == (3, 0, 3)


def test_a_worker_that_returns_in_time_gets_back_what_it_ran() -> None:
    returned = row(replayed(*EVEN), ConnectScenario.WORKER_RETURNS)
    assert (returned.workers, returned.stopped, returned.stopped_ms, returned.moved) == (("b",), 2, 300_000, 0)


def test_one_more_worker_gets_its_share() -> None:
    joined = row(replayed(*EVEN), ConnectScenario.WORKER_JOINS)
    assert (joined.worker_count, joined.gained, joined.moved, joined.most_tasks) == (3, 1, 1, 2)


def test_an_uneven_group_is_evened_out_by_the_next_rebalance() -> None:
    replay = replayed(worker("a", "c", "0 1 2 3"), worker("b"))
    assert replay.is_reproduced is False
    assert row(replay, ConnectScenario.REBALANCES).most_tasks == 2


def test_an_eager_group() -> None:
    members = worker("a", "c", "1 3", version=0), worker("b", "", "0 2", version=0)
    replay = replayed(*members)
    assert (replay.is_eager, replay.is_reproduced) == (True, True)
    died = row(replay, ConnectScenario.WORKER_DIES, "b")
    assert (died.stopped, died.stopped_ms, died.moved) == (2, 0, 2)
    assert not replay.rows_of(ConnectScenario.WORKER_RETURNS)
    assert replayed(replace(members[0], worker=None), members[1]).missing == (MissingPart.WORKERS, MissingPart.LEADER)


def test_an_idle_worker_dies_without_a_delay() -> None:
    replay = replayed(*EVEN, worker("i"))
    died = row(replay, ConnectScenario.WORKER_DIES, "i")
    assert (died.stopped, died.stopped_ms, died.moved) == (0, 0, 0)


@pytest.mark.parametrize(
    ("change", "missing"),
    [
        ({"delay_ms": 7}, MissingPart.SETTLED_STATE),
        ({"revoked": Work(("x",))}, MissingPart.SETTLED_STATE),
        ({"assigned": None}, MissingPart.WORKERS),
        ({"error": 1}, MissingPart.WORKERS),
        ({"leader": "gone"}, MissingPart.LEADER),
    ],
)
def test_what_is_missing_is_named(change: dict[str, object], missing: MissingPart) -> None:
    a, b = EVEN
    assert b.worker is not None
    changed = replace(b, worker=replace(b.worker, **change))  # type: ignore[arg-type]
    replay = replayed(a, changed)
    assert replay.missing == (missing,)
    assert (replay.rows, replay.is_reproduced) == ((), None)


def test_other_groups_have_no_workers() -> None:
    assert replay_connect_group(Group("g", members=(Member("a"),))) is None
    assert replay_connect_group(Group("g", protocol_type="connect", members=(Member("a"),))) is None
