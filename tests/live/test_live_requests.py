"""Requests of a reading do not grow with the cluster, and two frozen brokers hide nothing of the others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from kafka_rebalance.snapshot.model import BrokerState, ClusterSnapshot
from rebalance_advisor.cli.main import main
from rebalance_advisor.dumps.any_input import read_input
from rebalance_advisor.kafka.connection.properties import connection_settings
from rebalance_advisor.kafka.read_cluster import read_with_settings
from rebalance_advisor.kafka.request_sender import RequestCounts
from stack.kafka.cluster import ClusterSpec, KafkaCluster, start_cluster
from stack.kafka.many_groups import make_groups
from stack.kafka.setup import create_topics
from stack.waiting import wait_for

pytestmark = pytest.mark.live
BROKERS = (1, 2, 3, 4)
MOST_TO_A_BROKER, MOST_FOR_CLUSTER = 14, 10


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaCluster]:
    """Four brokers, 12 partitions and 24 groups at first."""
    spec = ClusterSpec(racks=dict.fromkeys(BROKERS, "r"))
    with start_cluster(spec, tmp_path_factory.mktemp("requests") / "cluster") as started:
        grow(started, topics=3, partitions=4, groups=24)
        yield started


def grow(cluster: KafkaCluster, *, topics: int, partitions: int, groups: int) -> None:
    """More topics on one broker each, in turn, and more groups of one member that reads two of the new topics."""
    names = [f"t{topics}-{i}" for i in range(topics)]
    create_topics(cluster.bootstrap, {name: [[1 + p % 4] for p in range(partitions)] for name in names}, {})
    numbers: Sequence[int] = range(partitions)
    make_groups(
        cluster.bootstrap,
        {
            f"g{groups}-{i}": {names[i % topics]: numbers, names[(i + 1) % topics]: numbers} for i in range(groups)
        },
    )  # fmt: skip


def read(cluster: KafkaCluster) -> tuple[ClusterSnapshot, RequestCounts]:
    """The first reading in which every broker answered in time, and its requests."""
    settings = connection_settings({"bootstrap.servers": cluster.bootstrap})

    def look() -> tuple[ClusterSnapshot, RequestCounts]:
        counts = RequestCounts()
        return read_with_settings(settings, cluster_name="live", now=datetime.now(UTC), counts=counts), counts

    return wait_for(
        "a reading that lacks nothing", look, until=lambda result: result[0].coverage == (),
        gist=lambda result: result[0].coverage,
    )  # fmt: skip


def test_a_cluster_forty_times_as_large_takes_the_same_requests(
    cluster: KafkaCluster, capsys: pytest.CaptureFixture[str]
) -> None:
    small, few = read(cluster)
    grow(cluster, topics=24, partitions=20, groups=60)
    large, many = read(cluster)
    assert len(large.groups) == len(small.groups) + 60
    assert len(large.partitions) == len(small.partitions) + 480
    assert all(group.members and group.committed for group in large.groups)
    assert many == few
    assert set(many.to_broker) == set(BROKERS)
    assert many.most_to_a_broker <= MOST_TO_A_BROKER
    assert many.for_cluster.total() <= MOST_FOR_CLUSTER
    with capsys.disabled():
        print("", *many.lines(), sep="\n")


def test_with_two_of_four_brokers_frozen_all_of_the_healthy_two_is_read(
    cluster: KafkaCluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """``snapshot --deadline 20``: groups with members and commits, offsets, sizes and configs of brokers 1 and 2."""
    whole, _ = read(cluster)
    out = tmp_path / "snapshot.json"

    def snapshot() -> tuple[ClusterSnapshot, str]:
        arguments = ["snapshot", "--bootstrap", cluster.bootstrap, "--out", str(out), "--deadline", "20", "--verbose"]
        assert main(arguments) == 0
        return read_input(str(out)), capsys.readouterr().err

    def lines(result: tuple[ClusterSnapshot, str]) -> list[tuple[str, str]]:
        return [(gap.subject_type, gap.subject) for gap in result[0].coverage]

    with cluster.frozen_broker(3), cluster.frozen_broker(4):
        # A machine that stands still for five seconds makes the healthy ones silent, too.
        torn, said = wait_for(
            "a reading that lacks the two frozen brokers alone", snapshot, gist=lines,
            until=lambda result: lines(result) == [("broker", "3"), ("broker", "4")],
        )  # fmt: skip
    assert [broker.state for broker in torn.brokers] == [BrokerState.ALIVE] * 2 + [BrokerState.SILENT] * 2
    healthy = {group.id: group for group in whole.groups if group.coordinator in (1, 2)}
    results = {group.id: group for group in torn.groups}
    assert len(healthy) > 10
    assert {name: (group.members, group.committed) for name, group in results.items() if name in healthy} == {
        name: (group.members, group.committed) for name, group in healthy.items()
    }
    for row in whole.each_partition():
        seen = torn.partition(torn.row_of[row.topic, row.partition])
        assert seen.replicas == row.replicas
        if row.leader in (1, 2) and row.topic != "__consumer_offsets":  # which is written to
            assert (seen.start_offset, seen.end_offset) == (row.start_offset, row.end_offset)
        sizes = zip(row.replicas, seen.log_bytes, strict=True)
        assert all((size is not None) == (broker in (1, 2)) for broker, size in sizes)
    assert {topic.name: topic.configs for topic in torn.topics} == {topic.name: topic.configs for topic in whole.topics}
    assert "requests to broker 1: " in said
