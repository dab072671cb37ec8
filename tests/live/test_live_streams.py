"""Real Kafka Streams applications of both protocols: their tasks are read, and a leave is foretold."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import pytest

from kafka_rebalance.groups.group_input import group_inputs
from kafka_rebalance.groups.group_replay import EVERYTHING
from kafka_rebalance.groups.kinds import GroupKind, kind_of
from kafka_rebalance.groups.streams_tasks import MissingPart, StreamsReplay, StreamsScenario
from kafka_rebalance.snapshot.group import Group
from rebalance_advisor.kafka.read_cluster import read_cluster
from stack.jvm.maven import find_java
from stack.kafka.cluster import ClusterSpec, start_cluster
from stack.kafka.setup import create_topics
from stack.kafka.tools import ending_with_us
from stack.waiting import wait_for
from tests.live.kafka_classes import STREAMS, STREAMS_WITH_OFFSETS, classpath, compile_java

pytestmark = pytest.mark.live
PARTITIONS, INSTANCES = 7, 3


class Applications(NamedTuple):
    """Both groups at rest with all instances, what was foretold, and the Streams group after one instance left."""

    version: str
    groups: dict[str, Group]
    replays: dict[str, StreamsReplay]
    after: StreamsReplay


@pytest.fixture(scope="module", params=[STREAMS, STREAMS_WITH_OFFSETS], ids=[STREAMS[0], STREAMS_WITH_OFFSETS[0]])
def applications(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Applications]:
    folder = tmp_path_factory.mktemp("streams")
    standbys = {"group.streams.num.standby.replicas": "1"}
    version, _ = request.param
    spec = ClusterSpec(version=version, racks={1: "a"}, broker_properties=standbys)
    with start_cluster(spec, folder / "cluster") as cluster:
        create_topics(cluster.bootstrap, {"orders": [[1]] * PARTITIONS}, {})
        process = start_applications(request.param, cluster.bootstrap, folder / "state")
        try:
            groups = settled(cluster.bootstrap, INSTANCES)
            assert process.stdin is not None
            process.stdin.write("streams-0\n")
            process.stdin.flush()
            after = settled(cluster.bootstrap, INSTANCES - 1, only="app-streams")
        finally:
            process.terminate()
            process.communicate()
        yield Applications(
            version,
            {name: group for name, (group, _) in groups.items()},
            {name: replay for name, (_, replay) in groups.items()},
            after["app-streams"][1],
        )


def start_applications(classes: tuple[str, Sequence[str]], bootstrap: str, folder: Path) -> subprocess.Popen[str]:
    path = compile_java(["StreamsApp.java"], classpath(*classes))
    command = [str(find_java()), "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", path, "StreamsApp"]
    return subprocess.Popen(
        ending_with_us([*command, bootstrap, "orders", str(folder), str(INSTANCES)]), stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, encoding="utf-8",
    )  # fmt: skip


def settled(bootstrap: str, members: int, only: str | None = None) -> dict[str, tuple[Group, StreamsReplay]]:
    """The groups once each has so many members, at rest, with all tasks and a standby of each."""

    def read() -> dict[str, tuple[Group, StreamsReplay]]:
        snapshot = read_cluster({"bootstrap.servers": bootstrap}, cluster_name="apps", now=datetime.now(UTC))
        replays = {given.group.id: EVERYTHING.replay(given).streams for given in group_inputs(snapshot)}
        return {
            group.id: (group, replay) for group in snapshot.groups if (replay := replays[group.id]) is not None
        }  # fmt: skip

    def is_settled(found: dict[str, tuple[Group, StreamsReplay]]) -> bool:
        wanted = {only} if only else {"app-classic", "app-streams"}
        todays = [replay.today for name, (_, replay) in found.items() if name in wanted]
        return len(todays) == len(wanted) and all(
            today is not None and (today.members, today.active_tasks, today.standby_tasks)
            == (members, PARTITIONS, PARTITIONS)
            for today in todays
        ) and all(MissingPart.SETTLED_STATE not in found[name][1].missing for name in wanted)  # fmt: skip

    return wait_for("both applications to be at rest", read, until=is_settled, every_s=1.0)


def test_tasks_of_classic_threads_are_those_whose_partitions_they_read(applications: Applications) -> None:
    group, replay = applications.groups["app-classic"], applications.replays["app-classic"]
    assert kind_of(group) is GroupKind.STREAMS
    assert [member.decode_error for member in group.members] == [None] * INSTANCES
    assert len({member.process_id for member in group.members}) == INSTANCES
    for member in group.members:
        assert member.tasks is not None
        assert member.assigned == (("orders", dict(member.tasks.active)["0"]),)
    assert replay.missing == (
        MissingPart.TOPOLOGY, MissingPart.CHANGELOG_END_OFFSETS, MissingPart.APPLICATION_SETTINGS,
    )  # fmt: skip


def test_a_streams_group_is_replayed_and_a_leave_ends_as_foretold(applications: Applications) -> None:
    """4.4 names its assignor and reports task offsets, without which the replay would be refused."""
    group, replay = applications.groups["app-streams"], applications.replays["app-streams"]
    is_newer = applications.version == STREAMS_WITH_OFFSETS[0]
    assert (group.protocol, replay.missing, replay.standby_replicas) == ("sticky" if is_newer else None, (), 1)
    assert all((member.task_offsets is not None) == is_newer for member in group.members)
    left = {one.process_id for one in replay.members} - {one.process_id for one in applications.after.members}
    (foretold,) = (row for row in replay.rows_of(StreamsScenario.INSTANCE_DIES) if set(row.instances) == left)
    today = applications.after.today
    assert today is not None
    names = ("members", "processes", "active_tasks", "standby_tasks", "most_active", "least_active", "idle_members",
             "standbys_missing")  # fmt: skip
    assert {name: getattr(today, name) for name in names} == {name: getattr(foretold, name) for name in names}
