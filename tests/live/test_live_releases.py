"""Older releases, with ZooKeeper and with KRaft: what is read of a cluster at rest is what was made there and what the
tools of that very release print, live and out of their dumps.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from kafka_rebalance.snapshot.model import BrokerState, ClusterSnapshot, GroupType
from rebalance_advisor.dumps.any_input import read_input
from rebalance_advisor.kafka.read_cluster import read_cluster
from stack.kafka.cluster import ClusterSpec, KafkaCluster, start_cluster
from stack.kafka.setup import create_topics, fill
from stack.kafka.tools import OLDER
from stack.kafka.traffic import ReadingGroup
from stack.waiting import wait_for
from tests.live.tool_output import folder_of_dumps, printed_groups, printed_partitions, printed_sizes

pytestmark = [pytest.mark.live, pytest.mark.matrix]
ZOOKEEPER, KRAFT = "ZooKeeper", "KRaft"
RELEASES = [("2.8.2", ZOOKEEPER), ("3.4.1", ZOOKEEPER), ("3.4.1", KRAFT), (OLDER, ZOOKEEPER)]
RACKS = {1: "a", 2: "b"}
PLACEMENT = {"audit": [[2, 1]], "clicks": [[1], [2]], "orders": [[1, 2], [2, 1], [1, 2], [2, 1]]}
CONFIGS = {"audit": {"cleanup.policy": "compact"}, "clicks": {"retention.ms": "86400000"}}
RECORDS = {"clicks": 300, "orders": 400}
# Group → its members, the topics it reads: one of kafka-python, one of that release's own Java.
GROUPS = {"billing": (2, {"clicks", "orders"}), "archive": (1, {"clicks"})}


@dataclass(frozen=True)
class AtRest:
    """A cluster whose groups have read and committed all that there is, and one reading of it."""

    cluster: KafkaCluster
    snapshot: ClusterSnapshot


@pytest.fixture(scope="module", params=RELEASES, ids="-".join)
def at_rest(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[AtRest]:
    version, mode = request.param
    spec = ClusterSpec(version=version, racks=RACKS, with_zookeeper=mode == ZOOKEEPER)
    with start_cluster(spec, tmp_path_factory.mktemp("release") / "cluster") as cluster:
        create_topics(cluster.bootstrap, PLACEMENT, CONFIGS)
        fill(cluster.bootstrap, RECORDS)
        group = ReadingGroup(cluster.bootstrap, "billing", ["clicks", "orders"], members=2)
        settings = ("auto.offset.reset=earliest", "auto.commit.interval.ms=500")
        java = cluster.tools.start_console_consumer("clicks", "archive", *settings)
        try:
            yield AtRest(cluster, rested(cluster))
            assert group.failures == []
        finally:
            java.kill()
            java.wait()
            group.stop()


def rested(cluster: KafkaCluster) -> ClusterSnapshot:
    """Read until both groups have all their members and have committed every record."""

    def waiting(snapshot: ClusterSnapshot) -> dict[str, tuple[str | None, int]]:
        ends = {(row.topic, row.partition): row.end_offset for row in snapshot.each_partition()}
        return {
            group.id: (group.state, sum(bool(member.assigned) for member in group.members))
            for group in snapshot.groups
            if group.state != "Stable"
            or sum(bool(member.assigned) for member in group.members) != GROUPS[group.id][0]
            or {(row.topic, row.partition): row.offset for row in group.committed}
            != {key: end for key, end in ends.items() if key[0] in GROUPS[group.id][1]}
        }

    return wait_for(
        "both groups to commit every record",
        lambda: read_cluster({"bootstrap.servers": cluster.bootstrap}, cluster_name="release", now=datetime.now(UTC)),
        until=lambda seen: not waiting(seen) and len(seen.groups) == len(GROUPS),
        gist=lambda seen: (waiting(seen), seen.coverage), every_s=0.5,
    )  # fmt: skip


def test_all_of_it_is_read_and_the_release_is_told(at_rest: AtRest) -> None:
    assert at_rest.snapshot.coverage == ()
    spec = at_rest.cluster.spec
    release = ".".join(spec.version.split(".")[:2])
    assert at_rest.snapshot.kafka_version == release


def test_brokers_their_racks_and_the_controller(at_rest: AtRest) -> None:
    """With ZooKeeper one of the brokers is the controller, and ZooKeeper knows which."""
    brokers = at_rest.snapshot.brokers
    assert {broker.id: broker.rack for broker in brokers} == RACKS
    assert {broker.state for broker in brokers} == {BrokerState.ALIVE}
    assert all(len(broker.log_dirs) == 1 and broker.log_dirs[0].error is None for broker in brokers)
    controllers = [broker.id for broker in brokers if broker.is_controller]
    if at_rest.cluster.spec.with_zookeeper:
        said = at_rest.cluster.zookeeper_says("get", "/controller")
        assert controllers == [int(broker) for broker in re.findall(r'"brokerid":(\d+)', said)]
        assert len(controllers) == 1
    else:
        assert controllers == []


def test_topics_partitions_and_configs_are_what_was_made_and_what_kafka_topics_prints(at_rest: AtRest) -> None:
    text = at_rest.cluster.tools.topics("--describe")
    rows = list(at_rest.snapshot.each_partition())
    ours = {(row.topic, row.partition): (row.leader, list(row.replicas), sorted(row.isr or ())) for row in rows}
    assert ours == printed_partitions(text)
    made = {(topic, p): replicas for topic, parts in PLACEMENT.items() for p, replicas in enumerate(parts)}
    assert {key: replicas for key, (_, replicas, _) in ours.items() if key[0] in PLACEMENT} == made
    topics = {topic.name: topic for topic in at_rest.snapshot.topics}
    assert {name: topic.topic_id for name, topic in topics.items()} == dict(
        re.findall(r"Topic: (\S+)\tTopicId: (\S+)", text)
    )
    assert {name: topics[name].configs for name in PLACEMENT} == {name: CONFIGS.get(name, {}) for name in PLACEMENT}
    assert {name for name, topic in topics.items() if topic.is_internal} == {"__consumer_offsets"}


def test_sizes_are_those_of_kafka_log_dirs_and_offsets_those_of_the_records(at_rest: AtRest) -> None:
    rows = [row for row in at_rest.snapshot.each_partition() if row.topic in PLACEMENT]
    ours = {
        (broker, row.topic, row.partition): size
        for row in rows
        for broker, size in zip(row.replicas, row.log_bytes, strict=True)
    }
    printed = printed_sizes(at_rest.cluster.tools)
    assert ours == {key: size for key, size in printed.items() if key[1] in PLACEMENT}
    ends = {topic: sum(row.end_offset or 0 for row in rows if row.topic == topic) for topic in PLACEMENT}
    assert ends == {"audit": 0, **RECORDS}
    assert {row.start_offset for row in rows} == {0}
    # 1,000 bytes of each record, and what its batch costs
    leaders = {topic: sum(ours[row.leader, topic, row.partition] for row in rows if row.topic == topic)
               for topic in RECORDS}  # fmt: skip
    assert all(1_000 * count < leaders[topic] < 1_100 * count for topic, count in RECORDS.items())


def test_groups_are_those_of_kafka_consumer_groups(at_rest: AtRest) -> None:
    groups = at_rest.snapshot.groups
    ours = {
        group.id: (group.state, group.coordinator, sorted(member.id for member in group.members)) for group in groups
    }
    tools = at_rest.cluster.tools
    assert ours == printed_groups(tools)
    assert {group.type for group in groups} == {GroupType.CLASSIC}
    row = r"(?m)^(\S+) +(\S+) +(\d+) +(\d+) +(\d+) +0 +(\S+)"  # group, topic, partition, commit, end, lag, member
    printed = {
        (group, topic, int(p), int(commit), int(end), member)
        for group, topic, p, commit, end, member in re.findall(row, tools.groups("--describe", "--all-groups"))
    }
    reader = {
        (group.id, topic, p): member.id
        for group in groups
        for member in group.members
        for topic, parts in member.assigned
        for p in parts
    }
    ends = {(row.topic, row.partition): row.end_offset for row in at_rest.snapshot.each_partition()}
    assert printed == {
        (group.id, commit.topic, commit.partition, commit.offset, ends[commit.topic, commit.partition],
         reader[group.id, commit.topic, commit.partition])
        for group in groups
        for commit in group.committed
    }  # fmt: skip
    assert len(printed) == 8  # six partitions of billing, two of archive


def test_dumps_of_that_releases_tools_give_the_same_cluster(at_rest: AtRest, tmp_path: Path) -> None:
    dumped = read_input(folder_of_dumps(at_rest.cluster.tools, tmp_path))
    assert seen(dumped) == seen(at_rest.snapshot)


def seen(snapshot: ClusterSnapshot) -> tuple[object, ...]:
    """What both ways in can tell."""
    return (
        {broker.id: broker.rack for broker in snapshot.brokers},
        {
            (row.topic, row.partition): (row.leader, row.replicas, set(row.isr or ()), row.log_bytes)
            for row in snapshot.each_partition()
            if row.topic in PLACEMENT
        },
        {
            group.id: (
                group.protocol,
                {member.id: sorted((topic, p) for topic, parts in member.assigned for p in parts)
                 for member in group.members},
                sorted((commit.topic, commit.partition, commit.offset) for commit in group.committed),
            )
            for group in snapshot.groups
        },
    )  # fmt: skip
