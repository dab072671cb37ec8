"""What cannot be read is coverage, never a smaller cluster; and reading changes nothing."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

import pytest

from kafka_rebalance.snapshot.model import BrokerState, ClusterSnapshot
from rebalance_advisor.kafka.read_cluster import read_cluster
from stack.kafka.cluster import ClusterSpec, KafkaCluster, start_cluster
from stack.kafka.setup import create_topics
from stack.kafka.tools import NEWEST

pytestmark = pytest.mark.live
PLACEMENT = {"t": [[1, 2], [2, 3], [3, 1]], "alone": [[3]]}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaCluster]:
    """Three brokers in three racks, without any topic at first."""
    with start_cluster(ClusterSpec(version=NEWEST), tmp_path_factory.mktemp("faults") / "cluster") as started:
        yield started


def read(cluster: KafkaCluster) -> ClusterSnapshot:
    return read_cluster({"bootstrap.servers": cluster.bootstrap}, cluster_name="faults", now=datetime.now(UTC))


def told(snapshot: ClusterSnapshot) -> set[tuple[str, str, str]]:
    return {(gap.subject_type, gap.subject, gap.what) for gap in snapshot.coverage}


def test_reading_an_empty_cluster_creates_nothing(cluster: KafkaCluster):
    """Looking for the coordinator of a group would create __consumer_offsets."""
    first = read(cluster)
    assert (first.topics, first.groups, first.coverage) == ((), (), ())
    assert len(first.brokers) == 3
    assert cluster.tools.topics("--list").strip() == ""


@contextmanager
def frozen(cluster: KafkaCluster, broker: int) -> Iterator[None]:
    """A broker that accepts connections and never answers."""
    pid = int((cluster.folder / f"node-{broker}.pid").read_text())
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def wait_until(cluster: KafkaCluster, is_good) -> ClusterSnapshot:
    deadline = time.monotonic() + 60
    while True:
        snapshot = read(cluster)
        if is_good(snapshot) or time.monotonic() > deadline:
            return snapshot
        time.sleep(1)


def test_a_frozen_broker_costs_seconds_and_its_share_of_the_coverage(cluster: KafkaCluster):
    create_topics(cluster.bootstrap, PLACEMENT, {})
    whole = wait_until(cluster, lambda snapshot: len(snapshot.partitions) == 4)
    assert whole.coverage == ()
    with frozen(cluster, 3):
        started = time.monotonic()
        partial = read(cluster)
        assert time.monotonic() - started < 25
    assert len(partial.partitions) == len(whole.partitions)
    assert [broker.id for broker in partial.brokers] == [1, 2, 3]
    assert ("broker", "3", "log dirs") in told(partial)
    assert ("cluster", "faults", "groups") in told(partial)
    row = partial.partition(partial.row_of["t", 0])
    assert row.end_offset == 0
    assert None not in row.log_bytes
    lost = partial.partition(partial.row_of["alone", 0])
    assert (lost.replicas, lost.log_bytes, lost.end_offset) == ((3,), (None,), None)


def test_a_dead_broker_stays_in_the_snapshot_with_its_replicas(cluster: KafkaCluster):
    """Once it is fenced, 4.x still names it with its rack."""
    wait_until(cluster, lambda snapshot: snapshot.coverage == ())
    cluster.kill_broker(3)
    try:
        gone = wait_until(cluster, lambda snapshot: snapshot.brokers[2].state is BrokerState.FENCED)
    finally:
        cluster.start_broker(3)
    broker = gone.brokers[2]
    assert (broker.id, broker.rack, broker.state) == (3, "c", BrokerState.FENCED)
    assert len(gone.partitions) == 4
    assert gone.partition(gone.row_of["alone", 0]).leader is None
    assert 3 in gone.partition(gone.row_of["t", 1]).offline
    assert ("broker", "3", "log dirs") in told(gone)
    assert ("topic", "alone", "offsets") in told(gone)
    healed = wait_until(
        cluster, lambda snapshot: snapshot.coverage == () and snapshot.brokers[2].state is BrokerState.ALIVE
    )
    assert healed.coverage == ()
