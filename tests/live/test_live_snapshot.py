"""A snapshot of a running cluster agrees with what Kafka's own tools print, for each Kafka version."""

import re
import time
from datetime import UTC, datetime
from typing import TypeVar

import numpy as np
import pytest

from kafka_rebalance.snapshot.codec import snapshot_from_document, snapshot_to_document
from kafka_rebalance.snapshot.figures import LoadKind, LoadSource
from kafka_rebalance.snapshot.model import BrokerState, ClusterSnapshot, GroupType
from kafka_rebalance.snapshot.rates import measure_rates
from rebalance_advisor.dumps.any_input import read_input
from rebalance_advisor.kafka.read_cluster import read_cluster
from stack.kafka.live_cluster import EMPTY_BROKER, PLACEMENT, RACKS, LiveCluster
from stack.kafka.setup import set_config
from stack.waiting import wait_for
from tests.live.tool_output import folder_of_dumps, printed_groups, printed_partitions, printed_sizes

pytestmark = pytest.mark.live
T = TypeVar("T")


def read(live_cluster: LiveCluster) -> ClusterSnapshot:
    return read_cluster(
        {"bootstrap.servers": live_cluster.cluster.bootstrap}, cluster_name="live", now=datetime.now(UTC)
    )


@pytest.fixture(scope="module")
def settled(live_cluster: LiveCluster) -> ClusterSnapshot:
    """A snapshot once all three groups have found their members, and none of them is rebalancing (again)."""

    def is_settled(snapshot: ClusterSnapshot) -> bool:
        if {group.state for group in snapshot.groups} != {"Stable"}:
            return False
        members = {group.id: sum(bool(member.assigned) for member in group.members) for group in snapshot.groups}
        return members == {"billing": 3, "next-gen": 1, "search": 2}

    return wait_for(
        "all groups to be stable", lambda: read(live_cluster), until=is_settled,
        gist=lambda seen: [(group.id, group.state, group.members) for group in seen.groups],
    )  # fmt: skip


def test_everything_was_read_and_nothing_is_wrong_with_the_traffic(live_cluster: LiveCluster, settled: ClusterSnapshot):
    assert settled.coverage == ()
    assert live_cluster.failures == []
    assert settled.source == "live"
    assert settled.kafka_version == ".".join(live_cluster.cluster.spec.version.split(".")[:2])


def test_brokers_racks_and_controller(settled: ClusterSnapshot):
    """The controller of a KRaft cluster is a node of its own here, so no broker is it."""
    assert {broker.id: broker.rack for broker in settled.brokers} == RACKS
    assert {broker.state for broker in settled.brokers} == {BrokerState.ALIVE}
    assert not any(broker.is_controller for broker in settled.brokers)
    assert all(
        log_dir.total_bytes and log_dir.usable_bytes for broker in settled.brokers for log_dir in broker.log_dirs
    )


def test_partitions_are_those_of_kafka_topics(live_cluster: LiveCluster, settled: ClusterSnapshot):
    text = live_cluster.cluster.tools.topics("--describe")
    ours = {
        (row.topic, row.partition): (row.leader, list(row.replicas), sorted(row.isr or ()))
        for row in settled.each_partition()
    }
    assert ours == printed_partitions(text)
    assert sum(topic in PLACEMENT for topic, _ in ours) == sum(map(len, PLACEMENT.values()))
    ids = dict(re.findall(r"Topic: (\S+)\tTopicId: (\S+)", text))
    assert {topic.name: topic.topic_id for topic in settled.topics} == ids
    assert not any(EMPTY_BROKER in row.replicas for row in settled.each_partition() if row.topic in PLACEMENT)


def test_topic_configs_that_somebody_set_are_read(settled: ClusterSnapshot):
    configs = {topic.name: topic.configs for topic in settled.topics}
    assert configs["clicks"]["retention.ms"] == "86400000"
    assert configs["audit"]["cleanup.policy"] == "compact"
    assert "retention.ms" not in configs["orders"]
    assert {topic.name for topic in settled.topics if topic.is_internal} == {"__consumer_offsets"}


def test_groups_are_those_of_kafka_consumer_groups(live_cluster: LiveCluster, settled: ClusterSnapshot):
    """Types, assignors, members with their instances and topics; state and coordinator as the tool prints them."""
    by_id = {group.id: group for group in settled.groups}
    assert {name: (group.type, group.protocol) for name, group in by_id.items()} == {
        "billing": (GroupType.CLASSIC, "range"),
        "search": (GroupType.CLASSIC, "roundrobin"),
        "next-gen": (GroupType.CONSUMER, "uniform"),
    }
    assert {member.instance_id for member in by_id["search"].members} == {"search-0", "search-1"}
    assert {frozenset(member.subscription or ()) for member in by_id["billing"].members} == {
        frozenset({"orders", "payments"})
    }
    tools = live_cluster.cluster.tools
    # A group may rebalance between two looks on a busy machine: they are compared until they agree.
    wait_for(
        "the same groups from us and from Kafka's tool", lambda: (seen(read(live_cluster)), printed_groups(tools)),
        until=lambda pair: pair[0] == pair[1],
    )  # fmt: skip


def seen(snapshot: ClusterSnapshot) -> dict[str, tuple]:
    return {
        group.id: (group.state, group.coordinator, sorted(member.id for member in group.members))
        for group in snapshot.groups
    }


def test_every_partition_of_a_group_has_one_reader(settled: ClusterSnapshot):
    """The decoded assignments together are what the assignor divides: each partition exactly once."""
    wanted = {"billing": ("orders", "payments"), "search": ("clicks", "orders"), "next-gen": ("clicks",)}
    for group in settled.groups:
        given = sorted((topic, p) for member in group.members for topic, parts in member.assigned for p in parts)
        assert given == [(topic, p) for topic in wanted[group.id] for p in range(len(PLACEMENT[topic]))]


def test_dumps_of_the_tools_give_the_same_cluster(live_cluster: LiveCluster, settled: ClusterSnapshot, tmp_path):
    """Two ways in, one cluster: placement, leaders, racks and who reads what are equal field by field."""
    dumped = read_input(folder_of_dumps(live_cluster.cluster.tools, tmp_path))
    for column in ("topic", "partition", "offsets", "replicas", "leader", "in_sync"):
        np.testing.assert_array_equal(getattr(dumped.partitions, column), getattr(settled.partitions, column))
    assert [topic.name for topic in dumped.topics] == [topic.name for topic in settled.topics]
    assert {broker.id: broker.rack for broker in dumped.brokers} == RACKS
    assert {broker.state for broker in dumped.brokers} == {BrokerState.ALIVE}
    assert [(broker.host, broker.port) for broker in dumped.brokers] == [(b.host, b.port) for b in settled.brokers]
    if live_cluster.cluster.tools.version.startswith("4."):
        (tmp_path / "brokers.txt").write_text(live_cluster.cluster.tools.list_endpoints())
        assert read_input(tmp_path).brokers == dumped.brokers

    def readers(snapshot: ClusterSnapshot) -> dict:
        return {
            (group.id, member.id): sorted((topic, p) for topic, parts in member.assigned for p in parts)
            for group in snapshot.groups
            for member in group.members
        }

    assert readers(dumped) == readers(settled)


def test_sizes_and_offsets_lie_between_two_answers_of_the_tools(live_cluster: LiveCluster):
    """Traffic runs: what the snapshot says was true at some moment between the two."""
    tools = live_cluster.cluster.tools
    before_ends, before_sizes = tools.offsets("--time", "latest"), printed_sizes(tools)
    snapshot = read(live_cluster)
    after_ends, after_sizes = tools.offsets("--time", "latest"), printed_sizes(tools)
    starts = tools.offsets("--time", "earliest")
    for row in snapshot.each_partition():
        key = (row.topic, row.partition)
        if row.topic not in PLACEMENT:
            continue
        assert before_ends[key] <= row.end_offset <= after_ends[key]
        assert row.start_offset == starts[key]
        for broker, size in zip(row.replicas, row.log_bytes, strict=True):
            assert before_sizes[broker, *key] <= size <= after_sizes[broker, *key]
    assert sum(after_ends.values()) > sum(before_ends.values())


def test_a_lag_is_never_negative(live_cluster: LiveCluster):
    """Ends are read after commits."""
    snapshot = read(live_cluster)
    ends = {(row.topic, row.partition): row.end_offset for row in snapshot.each_partition()}
    commits = [commit for group in snapshot.groups for commit in group.committed]
    assert len(commits) >= 20
    assert all(commit.offset <= ends[commit.topic, commit.partition] for commit in commits)


def test_rates_between_two_snapshots_are_what_the_producer_wrote(live_cluster: LiveCluster):
    older = read(live_cluster)
    time.sleep(4)
    newer = read(live_cluster)
    measured = measure_rates(older, newer)
    messages, sizes = measured.load(LoadKind.IN_MESSAGES_PER_S), measured.load(LoadKind.IN_BYTES_PER_S)
    rows = [measured.row_of["orders", p] for p in range(8)]
    seconds = measured.loads.columns[LoadKind.IN_BYTES_PER_S].window_s
    grown = sum(
        new.end_offset - old.end_offset
        for old, new in zip(older.each_partition(), newer.each_partition(), strict=True)
        if old.topic == "orders"
    )
    assert grown > 0
    assert sum(messages[rows]) * seconds == pytest.approx(grown)
    # 200 bytes of padding, its number, its key, and what a batch costs
    assert 200 < sum(sizes[rows]) / sum(messages[rows]) < 400
    assert measured.loads.columns[LoadKind.IN_BYTES_PER_S].source is LoadSource.LOG_DIR_GROWTH
    assert np.nansum(measured.load(LoadKind.OUT_BYTES_PER_S)[rows]) > 0


def test_the_snapshot_survives_its_file(settled: ClusterSnapshot):
    document = snapshot_to_document(settled)
    assert snapshot_to_document(snapshot_from_document(document)) == document


def test_throttles_left_behind_are_seen_even_a_cluster_wide_one(live_cluster: LiveCluster):
    """A cluster-wide default is not shown by any broker's own configs."""
    where = live_cluster.cluster.bootstrap
    set_config(where, "broker", "2", leader__replication__throttled__rate="1000000")
    everywhere = ("--alter", "--entity-type", "brokers", "--entity-default")
    live_cluster.cluster.tools.configs(*everywhere, "--add-config", "follower.replication.throttled.rate=2000000")
    set_config(where, "topic", "tiny", leader__replication__throttled__replicas="0:1,0:2")
    try:
        snapshot = read(live_cluster)
    finally:
        set_config(where, "broker", "2", leader__replication__throttled__rate=None)
        live_cluster.cluster.tools.configs(*everywhere, "--delete-config", "follower.replication.throttled.rate")
        set_config(where, "topic", "tiny", leader__replication__throttled__replicas=None)
    rates = {
        broker.id: {key: value for key, value in broker.configs.items() if "throttled" in key}
        for broker in snapshot.brokers
    }
    default = {"follower.replication.throttled.rate": "2000000"}
    assert rates == {1: default, 2: {**default, "leader.replication.throttled.rate": "1000000"}, 3: default, 4: default}
    tiny = next(topic for topic in snapshot.topics if topic.name == "tiny")
    assert tiny.configs["leader.replication.throttled.replicas"] == "0:1,0:2"


def test_a_running_reassignment_is_seen_as_such(live_cluster: LiveCluster, tmp_path):
    """The union that Kafka shows, what is added and what is removed; the target is the union without the latter."""
    tools = live_cluster.cluster.tools
    file = tmp_path / "move.json"
    file.write_text('{"version":1,"partitions":[{"topic":"clicks","partition":0,"replicas":[4,3]}]}')
    tools.execute_reassignment(file, 1_000)  # 1 kB/s: it will not end while we look
    try:
        moving = next(row for row in read(live_cluster).each_partition() if (row.topic, row.partition) == ("clicks", 0))
    finally:
        tools.reassign("--reassignment-json-file", str(file), "--cancel")
    assert set(moving.replicas) == {1, 2, 3, 4}
    assert (set(moving.adding), set(moving.removing)) == ({3, 4}, {1, 2})
    assert moving.target_replicas == (4, 3)
    after = wait_for(
        "the reassignment to be cancelled", lambda: read(live_cluster), gist=lambda seen: seen.partitions.adding,
        until=lambda seen: seen.row_of and not seen.partitions.adding,
    )  # fmt: skip
    back = after.partition(after.row_of["clicks", 0])
    assert (back.replicas, back.adding, back.removing) == ((1, 2), (), ())
