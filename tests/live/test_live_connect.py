"""A real Connect cluster, read from outside: connectors and tasks of each worker, then joins and leaves foretold.

``CONNECT_CHANGES`` sets how many joins and leaves (4). Workers with ``connect.protocol=eager``: by hand.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from kafka_assignors.connect_work import Work
from kafka_rebalance.groups.connect_workers import ConnectState, connect_state, replay_connect_group
from kafka_rebalance.groups.kinds import GroupKind, kind_of
from kafka_rebalance.snapshot.group import Group
from rebalance_advisor.kafka.read_cluster import read_cluster
from stack.jvm.java import QUICK_JVM
from stack.jvm.maven import find_java
from stack.kafka.cluster import ClusterSpec, KafkaCluster, start_cluster
from stack.kafka.tools import ending_with_us
from stack.waiting import wait_for
from tests.live.kafka_classes import CONNECT, classpath, compile_java

CHANGES = int(os.environ.get("CONNECT_CHANGES", "4"))
DELAY_MS = 3_000
CONNECTORS = {"orders": 4, "pay": 3, "clicks": 1}
GROUP = "connect-cluster"


class Workers:
    """Workers in one JVM; each has a REST port of its own."""

    def __init__(self, process: subprocess.Popen[str], bootstrap: str, protocol: str) -> None:
        self._process, self._bootstrap, self._protocol = process, bootstrap, protocol
        self.ports: dict[str, int] = {}

    def start(self, name: str, port: int) -> None:
        internal = {
            f"{kind}.storage.{what}": value
            for kind in ("config", "offset", "status")
            for what, value in (("topic", f"connect-{kind}"), ("replication.factor", "1"))
        }
        properties = {
            "bootstrap.servers": self._bootstrap, "group.id": GROUP, "client.id": name,
            "connect.protocol": self._protocol,
            "listeners": f"http://127.0.0.1:{port}", "plugin.discovery": "service_load",
            "key.converter": "org.apache.kafka.connect.json.JsonConverter",
            "value.converter": "org.apache.kafka.connect.json.JsonConverter",
            "scheduled.rebalance.max.delay.ms": str(DELAY_MS), "offset.storage.partitions": "1",
            "status.storage.partitions": "1",
        }  # fmt: skip
        self._ask({"start": name, "properties": properties | internal})
        self.ports[name] = port

    def stop(self, name: str) -> None:
        self._ask({"stop": name})
        del self.ports[name]

    def run_connector(self, name: str, tasks: int) -> None:
        port = next(iter(self.ports.values()))
        config = {"connector.class": "ConnectWorkers$IdleSource", "tasks.max": str(tasks)}
        request = Request(
            f"http://127.0.0.1:{port}/connectors/{name}/config", json.dumps(config).encode(),
            {"Content-Type": "application/json"}, method="PUT",
        )  # fmt: skip
        with urlopen(request, timeout=120) as answer:
            assert answer.status in (200, 201)

    def _ask(self, line: Mapping[str, object]) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(line) + "\n")
        self._process.stdin.flush()
        assert json.loads(self._process.stdout.readline() or "{}").keys() == {"done"}


@contextmanager
def start_workers(bootstrap: str, folder: Path, protocol: str) -> Iterator[Workers]:
    services = folder / "META-INF" / "services"
    services.mkdir(parents=True)
    (services / "org.apache.kafka.connect.source.SourceConnector").write_text("ConnectWorkers$IdleSource\n")
    path = compile_java(["ConnectWorkers.java"], classpath(*CONNECT))
    command = [
        str(find_java()), "-Xmx384m", *QUICK_JVM, "-cp",
        os.pathsep.join((path, str(folder))), "ConnectWorkers",
    ]  # fmt: skip
    with (
        (folder / "log").open("w") as log,
        subprocess.Popen(
            ending_with_us(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True
        ) as process,
    ):
        try:
            yield Workers(process, bootstrap, protocol)
        finally:
            process.kill()


def read_group(cluster: KafkaCluster) -> Group | None:
    snapshot = read_cluster({"bootstrap.servers": cluster.bootstrap}, cluster_name="connect", now=datetime.now(UTC))
    return next((group for group in snapshot.groups if group.id == GROUP), None)


def at_rest(cluster: KafkaCluster, workers: Workers) -> tuple[Group, ConnectState]:
    """The group once all its workers are in it and everything runs."""

    def settled() -> tuple[Group, ConnectState] | None:
        group = read_group(cluster)
        if group is None or len(group.members) != len(workers.ports):
            return None
        state, replay = connect_state(group, DELAY_MS), replay_connect_group(group, delay_ms=DELAY_MS)
        work = sum(map(len, state.running.values()))
        is_all = work == len(state.configured) == len(CONNECTORS) + sum(CONNECTORS.values())
        return (group, state) if is_all and replay is not None and not replay.missing else None

    return wait_for("all workers at rest", settled)


def sets(running: Mapping[str, Work]) -> dict[str, tuple[set[str], set[object]]]:
    return {name: (set(work.connectors), set(work.tasks)) for name, work in running.items()}


@pytest.mark.live
@pytest.mark.parametrize(
    ("protocol", "reported"), [("sessioned", "sessioned"), pytest.param("eager", "default", marks=pytest.mark.matrix)]
)
def test_workers_are_read_and_their_joins_and_leaves_are_foretold(
    protocol: str, reported: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lots = random.Random(1)
    with start_cluster(ClusterSpec(racks={1: "a"}), tmp_path / "kafka") as cluster:
        topic = {"cleanup.policy": "compact"}
        for kind in ("config", "offset", "status"):
            cluster.tools.create_topic(f"connect-{kind}", configs=topic)
        with start_workers(cluster.bootstrap, tmp_path / "workers", protocol) as workers:
            ports = iter(range(28083, 28183))
            for name in ("w-0", "w-1"):
                workers.start(name, next(ports))
            for name, tasks in CONNECTORS.items():
                workers.run_connector(name, tasks)
            group, state = at_rest(cluster, workers)
            assert kind_of(group) is GroupKind.CONNECT_WORKERS
            assert (group.protocol_type, group.protocol, group.state) == ("connect", reported, "Stable")
            assert {member.worker.url for member in group.members if member.worker} == {
                f"http://127.0.0.1:{port}/" for port in workers.ports.values()
            }
            foretold = []
            for number in range(CHANGES):
                before, members = state, {member.id: member.client_id for member in group.members}
                if len(members) < 2 or (len(members) < 5 and lots.random() < 0.5):
                    workers.start(f"w-{number + 2}", next(ports))
                    group, state = at_rest(cluster, workers)
                    (joined,) = state.running.keys() - members.keys()
                    expected, _ = before.play(joining=joined)
                    foretold.append(("joins", sets(expected) == sets(state.running)))
                else:
                    left = lots.choice(sorted(members))
                    workers.stop(str(members[left]).removeprefix("connect-"))
                    expected, _ = before.play(lost=left)
                    group, state = at_rest(cluster, workers)
                    who = "leader leaves" if left == before.leader else "leaves"
                    foretold.append((who, sets(expected) == sets(state.running)))
    with capsys.disabled():
        print(f"\nConnect, {protocol}: {sum(right for _, right in foretold)} of {len(foretold)} foretold: {foretold}")
    assert all(right for _, right in foretold)
