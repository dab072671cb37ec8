"""Real Kafka Streams applications of both protocols: their tasks are read, and joins and leaves are foretold.

``STREAMS_CHANGES`` sets how many joins and leaves of each group (2, a leave first).
"""

from __future__ import annotations

import os
import random
import subprocess
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import pytest

from kafka_assignors.releases import seen_release
from kafka_assignors.streams import MemberTasks, StreamsMember, StreamsRequest, StreamsSubtopology, Task, streams_sticky
from kafka_rebalance.groups.group_input import group_inputs
from kafka_rebalance.groups.group_replay import EVERYTHING
from kafka_rebalance.groups.kinds import GroupKind, kind_of
from kafka_rebalance.groups.request_frame import feeding_order
from kafka_rebalance.groups.streams_tasks import MissingPart, StreamsReplay, StreamsScenario, StreamsScore
from kafka_rebalance.snapshot.group import Group, Member, TaskIds
from rebalance_advisor.kafka.read_cluster import read_cluster
from stack.jvm.java import QUICK_JVM
from stack.jvm.maven import find_java
from stack.kafka.cluster import ClusterSpec, start_cluster
from stack.kafka.setup import create_topics
from stack.kafka.tools import ending_with_us, minor_of
from stack.waiting import wait_for
from tests.live.kafka_classes import STREAMS, classpath, compile_java

pytestmark = pytest.mark.live
PARTITIONS, INSTANCES = 7, 3
CHANGES = int(os.environ.get("STREAMS_CHANGES", "2"))
HEARTBEATS = {
    "group.streams.min.heartbeat.interval.ms": "1000", "group.streams.heartbeat.interval.ms": "1000",
}  # fmt: skip
Placed = dict[str, tuple[set[Task], set[Task]]]  # active and standby tasks of each member


class Change(NamedTuple):
    """The KIP-1071 group's members came to rest after an instance left or joined."""

    what: str
    foretold: Placed
    happened: Placed


class Applications(NamedTuple):
    """Both groups at rest with all instances, what was foretold, and the Streams group after one instance left."""

    version: str
    groups: dict[str, Group]
    replays: dict[str, StreamsReplay]
    after: StreamsReplay
    changes: list[Change]
    classic_changes: list[tuple[str, bool]]


@pytest.fixture(scope="module")
def applications(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Applications]:
    folder = tmp_path_factory.mktemp("streams")
    properties = HEARTBEATS | {"group.streams.num.standby.replicas": "1"}
    spec = ClusterSpec(racks={1: "a"}, broker_properties=properties)
    with start_cluster(spec, folder / "cluster") as cluster:
        create_topics(cluster.bootstrap, {"orders": [[1]] * PARTITIONS}, {})
        process = start_applications(cluster.bootstrap, folder / "state")
        try:
            groups = settled(cluster.bootstrap, INSTANCES)
            seen = list(changes(process, cluster.bootstrap, spec.version, groups["app-streams"][0]))
            classic = list(classic_changes(process, cluster.bootstrap, groups["app-classic"][1]))
        finally:
            process.terminate()
            process.communicate()
        yield Applications(
            spec.version,
            {name: group for name, (group, _) in groups.items()},
            {name: replay for name, (_, replay) in groups.items()},
            seen[0][1],
            [change for change, _ in seen],
            classic,
        )


def start_applications(bootstrap: str, folder: Path) -> subprocess.Popen[str]:
    path = compile_java(["StreamsApp.java"], classpath(*STREAMS))
    command = [str(find_java()), "-Xmx512m", *QUICK_JVM, "-cp", path, "StreamsApp"]
    return subprocess.Popen(
        ending_with_us([*command, bootstrap, "orders", str(folder), str(INSTANCES)]), stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, encoding="utf-8",
    )  # fmt: skip


def changes(
    process: subprocess.Popen[str], bootstrap: str, version: str, group: Group
) -> Iterator[tuple[Change, StreamsReplay]]:
    """Yield each change of the KIP-1071 group with its replay after it; a new instance begins without state."""
    for what, members in steps(process, "streams"):
        before, (group, replay) = group, settled(bootstrap, members, only="app-streams")["app-streams"]
        yield Change(what, foretold(before, group.members, version), placed(group)), replay


def steps(process: subprocess.Popen[str], protocol: str) -> Iterator[tuple[str, int]]:
    """Let instances leave and join one by one, and yield which it was and how many there are then."""
    assert process.stdin is not None
    lots, running = random.Random(1), [f"{protocol}-{number}" for number in range(INSTANCES)]
    for number in range(CHANGES):
        is_leave = number == 0 or (len(running) > 2 and (len(running) > 4 or lots.random() < 0.5))
        name = lots.choice(running) if is_leave else f"{protocol}-{INSTANCES + number}"
        process.stdin.write(f"{name}\n")
        process.stdin.flush()
        (running.remove if is_leave else running.append)(name)
        yield "leaves" if is_leave else "joins", len(running)


def classic_changes(
    process: subprocess.Popen[str], bootstrap: str, replay: StreamsReplay
) -> Iterator[tuple[str, bool]]:
    """Yield each change of the classic group, and whether it ended at rest with the foretold figures of a leave."""
    for what, members in steps(process, "classic"):
        before, (_, replay) = replay, settled(bootstrap, members, only="app-classic")["app-classic"]
        left = {member.process_id for member in before.members} - {member.process_id for member in replay.members}
        rows = [row for row in before.rows_of(StreamsScenario.INSTANCE_DIES) if set(row.instances) == left]
        yield what, len(rows) == len(left) and all(is_as_foretold(row, replay.today) for row in rows)


def is_as_foretold(row: StreamsScore, today: StreamsScore | None) -> bool:
    names = ("members", "processes", "active_tasks", "standby_tasks", "most_active", "least_active", "idle_members")
    return all(getattr(row, name) == getattr(today, name) for name in names)


def foretold(before: Group, members: Sequence[Member], version: str) -> Placed:
    """What the assignor of a release gives ``members``: those of ``before`` have their tasks, others none."""
    known = {member.id: member for member in before.members}
    order = feeding_order(tuple(members), seen_release(version), is_server=True)
    assert order is not None
    listed = [known.get(members[index].id, members[index]) for index in order.tolist()]
    request = StreamsRequest(
        subtopologies=(StreamsSubtopology("0", PARTITIONS, is_stateful=True),), standby_replicas=1,
        members=tuple(streams_member(item, is_known=item.id in known) for item in listed),
    )  # fmt: skip
    given = zip(listed, streams_sticky(version).assign(request), strict=True)
    return {member.id: (set(tasks.active), set(tasks.standby)) for member, tasks in given}


def streams_member(member: Member, *, is_known: bool) -> StreamsMember:
    assert member.process_id is not None
    had = tasks_of(member) if is_known else MemberTasks()
    sums = {Task(name, p): total for name, pairs in member.task_offsets or () for p, total in pairs if is_known}
    return StreamsMember(
        id=member.id, process_id=member.process_id, active=had.active, standby=had.standby, offset_sums=sums
    )


def tasks_of(member: Member) -> MemberTasks:
    assert member.tasks is not None
    return MemberTasks(listed_tasks(member.tasks.active), listed_tasks(member.tasks.standby))


def listed_tasks(kind: TaskIds) -> tuple[Task, ...]:
    return tuple(Task(name, number) for name, numbers in kind for number in numbers)


def placed(group: Group) -> Placed:
    tasks = {member.id: tasks_of(member) for member in group.members}
    return {name: (set(had.active), set(had.standby)) for name, had in tasks.items()}


def settled(bootstrap: str, members: int, only: str | None = None) -> dict[str, tuple[Group, StreamsReplay]]:
    """The groups once each has so many members, at rest, with all tasks and a standby of each."""

    def read() -> dict[str, tuple[Group, StreamsReplay]]:
        snapshot = read_cluster({"bootstrap.servers": bootstrap}, cluster_name="apps", now=datetime.now(UTC))
        replays = {given.group.id: EVERYTHING.replay(given).streams for given in group_inputs(snapshot)}
        return {
            group.id: (group, replay) for group in snapshot.groups if (replay := replays[group.id]) is not None
        }  # fmt: skip

    def is_settled(result: dict[str, tuple[Group, StreamsReplay]]) -> bool:
        wanted = {only} if only else {"app-classic", "app-streams"}
        todays = [replay.today for name, (_, replay) in result.items() if name in wanted]
        return len(todays) == len(wanted) and all(
            today is not None and (today.members, today.active_tasks, today.standby_tasks)
            == (members, PARTITIONS, PARTITIONS)
            for today in todays
        ) and all(
            {MissingPart.SETTLED_STATE, MissingPart.TASKS_AT_REST}.isdisjoint(result[name][1].missing)
            for name in wanted
        )  # fmt: skip

    return wait_for("both applications to be at rest", read, until=is_settled, every_s=1.0)


def test_tasks_of_classic_threads_are_those_whose_partitions_they_read(applications: Applications) -> None:
    group, replay = applications.groups["app-classic"], applications.replays["app-classic"]
    assert kind_of(group) is GroupKind.STREAMS
    assert [member.decode_error for member in group.members] == [None] * INSTANCES
    assert len({member.process_id for member in group.members}) == INSTANCES
    for member in group.members:
        assert member.tasks is not None
        assert member.assigned == (("orders", dict(member.tasks.active)["0"]),)
    assert (replay.missing, replay.is_reproduced) == ((), True)
    assert replay.at_rest is not None
    assert (replay.at_rest.standby_replicas, replay.at_rest.tags) == ((1,), ((),))


def test_a_streams_group_is_replayed_and_a_leave_ends_as_foretold(applications: Applications) -> None:
    """4.4 names its assignor and reports task offsets, without which the replay would be refused."""
    group, replay = applications.groups["app-streams"], applications.replays["app-streams"]
    is_newer = minor_of(applications.version) >= (4, 4)
    assert (group.protocol, replay.missing, replay.standby_replicas) == ("sticky" if is_newer else None, (), 1)
    assert all((member.task_offsets is not None) == is_newer for member in group.members)
    left = {member.process_id for member in replay.members} - {
        member.process_id for member in applications.after.members
    }
    (foretold,) = (row for row in replay.rows_of(StreamsScenario.INSTANCE_DIES) if set(row.instances) == left)
    today = applications.after.today
    assert today is not None
    assert is_as_foretold(foretold, today)
    assert today.standbys_missing == foretold.standbys_missing


def test_joins_and_leaves_of_a_streams_group_are_foretold_task_by_task(
    applications: Applications, capsys: pytest.CaptureFixture[str]
) -> None:
    reported = [(change.what, change.foretold == change.happened) for change in applications.changes]
    with capsys.disabled():
        print(
            f"\nStreams on {applications.version}: {sum(right for _, right in reported)} of {len(reported)} foretold: "
            f"{reported}"
        )
    assert len(reported) == CHANGES
    assert all(change.foretold == change.happened for change in applications.changes)


def test_joins_and_leaves_of_classic_streams_come_to_rest_as_foretold(
    applications: Applications, capsys: pytest.CaptureFixture[str]
) -> None:
    reported = applications.classic_changes
    with capsys.disabled():
        print(
            f"\nClassic Streams on {applications.version}: {sum(right for _, right in reported)} of {len(reported)}: "
            f"{reported}"
        )
    assert len(reported) == CHANGES
    assert all(right for _, right in reported)
