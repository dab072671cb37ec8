"""What is read beside placement and groups, on a living cluster, as Kafka's own tools print it: log dirs of each
replica and copies in the making, quotas, configs of groups, eligible leaders; and other hands on the wheel.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest
from kafka.protocol.admin import AlterReplicaLogDirsRequest

from kafka_rebalance.findings.rules import evaluate_rules
from kafka_rebalance.scoring.snapshot_scores import score_cluster
from kafka_rebalance.snapshot.model import ClusterSnapshot, Partition, Quota
from rebalance_advisor.kafka.connection.client import ClusterClient
from rebalance_advisor.kafka.connection.probe import find_server
from rebalance_advisor.kafka.connection.properties import connection_settings
from rebalance_advisor.kafka.read_cluster import read_cluster
from stack.kafka.cluster import ClusterSpec, KafkaCluster, start_cluster
from stack.kafka.setup import create_topics, fill, set_config
from stack.kafka.tools import KafkaTools
from stack.waiting import wait_for
from tests.live.group_members import LibrdkafkaMember

pytestmark = pytest.mark.live
PLACEMENT = {"safe": [[1, 2, 3], [1, 3, 2]], "big": [[1]], "__CruiseControlMetrics": [[2]]}
SLOW = "1000"  # bytes/s: a move between dirs does not end while we look


@dataclass(frozen=True)
class Seen:
    """While all brokers are there, and once two are gone; ``log_dirs`` and ``topics`` as the tools print them."""

    calm: ClusterSnapshot
    log_dirs: dict[tuple[int, str, bool], tuple[str, int]]
    short: ClusterSnapshot
    topics: str


def read(cluster: KafkaCluster) -> ClusterSnapshot:
    return read_cluster({"bootstrap.servers": cluster.bootstrap}, cluster_name="details", now=datetime.now(UTC))


def move_between_dirs(cluster: KafkaCluster, broker: int, topic: str, path: str) -> None:
    """As ``kafka-reassign-partitions`` asks it of the broker."""
    settings = connection_settings({"bootstrap.servers": cluster.bootstrap})
    kind = AlterReplicaLogDirsRequest.AlterReplicaLogDir
    wanted = kind(path=path, topics=[kind.AlterReplicaLogDirTopic(name=topic, partitions=[0])])
    with ClusterClient(settings, find_server(settings)) as client:
        answer = client.send({0: (broker, AlterReplicaLogDirsRequest(dirs=[wanted]))}, 20)[0]
    assert not any(row.error_code for result in answer.results for row in result.partitions), answer


def printed_dirs(tools: KafkaTools) -> dict[tuple[int, str, bool], tuple[str, int]]:
    """(broker, partition, is a copy in the making) → (log dir, bytes)."""
    return {
        (broker["broker"], row["partition"], row["isFuture"]): (log_dir["logDir"], row["size"])
        for broker in tools.log_dirs()["brokers"]
        for log_dir in broker["logDirs"]
        for row in log_dir["partitions"]
    }


def row_of(snapshot: ClusterSnapshot, topic: str, partition: int = 0) -> Partition:
    return snapshot.partition(snapshot.row_of[topic, partition])


def in_the_making(cluster: KafkaCluster) -> ClusterSnapshot:
    """A reading that shows the copy, with its first bytes: they come at once, before the throttle holds it."""

    def future(seen: ClusterSnapshot) -> tuple[object, ...]:
        return tuple(row_of(seen, "big").future)

    return wait_for(
        "the copy to have bytes and stop growing", lambda: read(cluster), gist=future, unchanged_s=0.5, every_s=0.5,
        until=lambda seen: any(copy.log_bytes for copy in row_of(seen, "big").future),
    )  # fmt: skip


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seen]:
    spec = ClusterSpec(log_dirs_per_broker=2)
    with start_cluster(spec, tmp_path_factory.mktemp("details") / "cluster") as cluster:
        where, tools = cluster.bootstrap, cluster.tools
        create_topics(where, PLACEMENT, {"safe": {"min.insync.replicas": "2"}})
        fill(where, {"big": 8_000, "safe": 50})
        member = LibrdkafkaMember(where, "modern", ["safe"], group_protocol="consumer")
        add = ("--add-config",)
        with ThreadPoolExecutor(max_workers=2) as pool:
            jobs = [
                pool.submit(tools.configs, "--alter", "--entity-type", kind, *text)
                for kind, text in (
                    ("users", ("--entity-name", "ann", "--entity-type", "clients", "--entity-default", *add,
                               "producer_byte_rate=5000")),
                    ("groups", ("--entity-name", "modern", *add, "consumer.heartbeat.interval.ms=5001")),
                )
            ]  # fmt: skip
            assert all("Completed" in job.result() for job in jobs)
        first = read(cluster)
        dirs = [log_dir.path for log_dir in first.brokers[0].log_dirs]
        (dir_index,) = row_of(first, "big").log_dirs
        assert dir_index is not None
        set_config(where, "broker", "1", replica__alter__log__dirs__io__max__bytes__per__second=SLOW)
        set_config(
            where, "broker", "3", cordoned__log__dirs=",".join(log_dir.path for log_dir in first.brokers[2].log_dirs)
        )
        move_between_dirs(cluster, 1, "big", dirs[1 - dir_index])
        calm, log_dirs = in_the_making(cluster), printed_dirs(tools)
        member.stop()
        assert member.failures == []
        for broker in (3, 2):
            cluster.kill_broker(broker)
        short = wait_for(
            "one replica in sync", lambda: read(cluster), gist=lambda seen: row_of(seen, "safe").isr,
            until=lambda seen: len(row_of(seen, "safe").isr or ()) <= 1, every_s=0.5,
        )  # fmt: skip
        yield Seen(calm, log_dirs, short, tools.topics("--describe", "--topic", "safe"))


def test_the_log_dir_of_each_replica_and_copies_in_the_making_are_those_of_kafka_log_dirs(seen: Seen) -> None:
    ours = {}
    for row in seen.calm.each_partition():
        name = f"{row.topic}-{row.partition}"
        paths = {broker.id: [log_dir.path for log_dir in broker.log_dirs] for broker in seen.calm.brokers}
        for broker, dir_index, size in zip(row.replicas, row.log_dirs, row.log_bytes, strict=True):
            ours[broker, name, False] = (paths[broker][dir_index], size)
        for copy in row.future:
            ours[copy.broker, name, True] = (paths[copy.broker][copy.log_dir], copy.log_bytes)
    # The group's last commits are written between the two looks.
    known = {key for key in ours if not key[1].startswith("__consumer_offsets")}
    moving = (1, "big-0", True)
    assert {key: ours[key] for key in known - {moving}} == {
        key: value for key, value in seen.log_dirs.items() if key in known - {moving}
    }
    assert ours.keys() == seen.log_dirs.keys()
    (copy,) = row_of(seen.calm, "big").future
    assert ours[moving][0] == seen.log_dirs[moving][0] != ours[1, "big-0", False][0]
    assert 0 < copy.log_bytes <= seen.log_dirs[moving][1]


def test_quotas_configs_of_groups_and_defaults_of_brokers_are_told(seen: Seen) -> None:
    assert seen.calm.quotas == (Quota((("client-id", None), ("user", "ann")), {"producer_byte_rate": 5000.0}),)
    (group,) = seen.calm.groups
    assert group.configs == {"consumer.heartbeat.interval.ms": "5001"}
    assert {broker.configs["log.retention.hours"] for broker in seen.calm.brokers} == {"168"}
    assert seen.calm.features["eligible.leader.replicas.version"] == 1
    assert seen.calm.coverage == ()


def test_other_hands_are_findings(seen: Seen) -> None:
    """A copy in the making, a balancer's topic, a wholly cordoned broker; the throttle belongs to what runs."""
    results = {item.code: item for item in evaluate_rules(seen.calm, score_cluster(seen.calm), [])}
    assert results["reassignment_running"].evidence["replicas_between_log_dirs"] == 1
    assert results["other_balancer"].evidence["balancers"] == ("Cruise Control",)
    assert results["broker_cordoned"].subject == "3"
    assert [broker.is_cordoned for broker in seen.calm.brokers] == [False, False, True]
    assert "throttle_left_over" not in results


def test_eligible_leaders_are_those_of_kafka_topics_and_asked_only_where_an_isr_is_short(seen: Seen) -> None:
    rows = re.findall(r"Partition: (\d+)\tLeader: \d+\tReplicas: \S+\tIsr: (\S+)\tElr: (\S*)", seen.topics)
    theirs = {int(partition): (isr, sorted(filter(None, elr.split(",")))) for partition, isr, elr in rows}
    ours = {
        row.partition: (",".join(map(str, row.isr or ())), sorted(map(str, row.eligible)))
        for row in seen.short.each_partition()
        if row.topic == "safe"
    }
    assert ours == theirs
    assert any(elr for _, elr in theirs.values())
    assert not any(row.eligible for row in seen.calm.each_partition())
