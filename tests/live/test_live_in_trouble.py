"""A cluster in trouble: one broker lags, another one stops. Kafka completes each plan, and no partition falls below its
``min.insync.replicas``; the next election of preferred replicas gives the leaders that the plan told.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pytest

from kafka_rebalance.snapshot.codec import snapshot_to_document
from kafka_rebalance.snapshot.model import ClusterSnapshot
from kafka_rebalance.snapshot.partition_table import Partition
from rebalance_advisor.cli.main import main
from rebalance_advisor.kafka.read_cluster import read_cluster
from stack.demo.run_plan import run_waves
from stack.kafka.cluster import ClusterSpec, KafkaCluster, start_cluster
from stack.kafka.live_cluster import in_sync
from stack.kafka.setup import create_topics, fill
from stack.waiting import wait_for

pytestmark = pytest.mark.live
RACKS = {1: "a", 2: "b", 3: "c", 4: "a", 5: "b"}
LAGGING, STOPPED = 3, 4
PLACEMENT = {
    "orders": [[3, 1, 2], [1, 2, 3], [2, 3, 5], [5, 1, 2], [1, 5, 3], [3, 2, 1]],
    "clicks": [[1, 4], [4, 2], [2, 5], [5, 3], [4, 5], [1, 3]],
}
LEAST_IN_SYNC = {"orders": 2, "clicks": 1}


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[KafkaCluster]:
    """Five brokers on three racks; a replica that has not fetched for five seconds is out of sync."""
    properties = {
        "replica.lag.time.max.ms": "5000",
        "replica.fetch.max.bytes": "16384",
        "auto.leader.rebalance.enable": "false",
    }
    with start_cluster(ClusterSpec(racks=RACKS, broker_properties=properties), tmp_path / "cluster") as started:
        configs = {topic: {"min.insync.replicas": str(least)} for topic, least in LEAST_IN_SYNC.items()}
        create_topics(started.bootstrap, PLACEMENT, configs)
        fill(started.bootstrap, {"orders": 3_000, "clicks": 2_000})
        in_sync(lambda: read(started))
        yield started


def read(cluster: KafkaCluster) -> ClusterSnapshot:
    properties = {"bootstrap.servers": cluster.bootstrap}
    return read_cluster(properties, cluster_name="live", now=datetime.now(UTC))


def rows_of(snapshot: ClusterSnapshot, topic: str) -> list[Partition]:
    return [row for row in snapshot.each_partition() if row.topic == topic]


def planned(snapshot: ClusterSnapshot, folder: Path, *options: str) -> dict[str, Any]:
    """The plan's document; its files are in ``folder / "out"``."""
    folder.mkdir()
    (folder / "snapshot.json").write_bytes(orjson.dumps(snapshot_to_document(snapshot)))
    arguments = ["plan", str(folder / "snapshot.json"), "--out", str(folder / "out"), "--throttle", "50MB", *options]
    assert main(arguments) == 0
    document: dict[str, Any] = json.loads((folder / "out" / "plan.json").read_text())
    return document


def lag(cluster: KafkaCluster) -> ClusterSnapshot:
    """Broker 3 comes back after records were written, and gets a byte a second: it is alive, and in no ISR of orders.

    Its leaders hold the limit, for they run already: a broker that starts fetches before it has read its own limits.
    Kafka slows only replicas that are out of sync, and only after an answer: the fixture keeps answers small.
    """
    cluster.stop_broker(LAGGING)
    wait_for("broker 3 to be out of each ISR", lambda: read(cluster), until=lambda seen: bool(lagging(seen)))
    for topic in PLACEMENT:
        cluster.tools.produce_fast(topic, 6_000, 1_000)
    cluster.tools.configs(
        "--entity-type", "topics", "--entity-name", "orders", "--alter",
        "--add-config", "leader.replication.throttled.replicas=*",
    )  # fmt: skip
    for broker in RACKS.keys() - {LAGGING}:
        cluster.tools.configs(
            "--entity-type", "brokers", "--entity-name", str(broker), "--alter",
            "--add-config", "leader.replication.throttled.rate=1",
        )  # fmt: skip
    cluster.start_broker(LAGGING)
    return wait_for(
        "broker 3 to be alive", lambda: read(cluster),
        until=lambda seen: all(broker.state.is_responsive for broker in seen.brokers),
    )  # fmt: skip


def lagging(snapshot: ClusterSnapshot) -> list[Partition]:
    """The partitions of orders that broker 3 holds: all of them, or none where it is in an ISR."""
    rows = [row for row in rows_of(snapshot, "orders") if LAGGING in row.replicas]
    return [] if any(LAGGING in (row.isr or ()) for row in rows) else rows


def test_what_lags_and_what_stops_is_planned_executed_and_never_below_its_least(
    cluster: KafkaCluster, tmp_path: Path
) -> None:
    seen = lag(cluster)
    behind = {row.partition for row in lagging(seen)}
    assert len(behind) == 5
    fewer = planned(seen, tmp_path / "fewer", "--replication-factor", "2", "--include-topic", "orders")
    moved = {move["partition"]: move["to"] for move in fewer["moves"] if move["topic"] == "orders"}
    assert behind <= moved.keys()
    assert not any(LAGGING in moved[p] for p in behind), "the replica that lags is dropped"
    run_waves(cluster.tools, tmp_path / "fewer" / "out", seconds=120)
    after = read(cluster)
    assert not after.partitions.adding
    assert not after.partitions.removing
    assert all(len(row.replicas) == 2 and len(row.isr or ()) == 2 for row in rows_of(after, "orders"))
    in_sync(lambda: read(cluster))  # the tool's --verify took the throttle off: broker 3 catches up

    cluster.stop_broker(STOPPED)
    gone = wait_for(
        "broker 4 to be known as gone", lambda: read(cluster),
        until=lambda seen: any(b.id == STOPPED and b.state.is_gone for b in seen.brokers)
        and all(row.leader is not None for row in seen.each_partition()),
    )  # fmt: skip
    drain = planned(gone, tmp_path / "drain", "--remove-broker", str(STOPPED))
    assert drain["verdict"] == "rebalance"
    run_waves(cluster.tools, tmp_path / "drain" / "out", seconds=120)
    done = in_sync(lambda: read(cluster))
    assert not any(STOPPED in row.replicas for row in done.each_partition())
    for row in done.each_partition():
        assert len(row.isr or ()) >= LEAST_IN_SYNC[row.topic]
    cluster.tools.run(
        "org.apache.kafka.tools.LeaderElectionCommand", "--election-type", "preferred", "--all-topic-partitions"
    )
    elected = wait_for(
        "each partition to be led by its first replica", lambda: read(cluster),
        until=lambda seen: all(row.leader == row.replicas[0] for row in seen.each_partition()),
    )  # fmt: skip
    led = Counter(str(row.leader) for row in elected.each_partition())
    assert led == {broker: count for broker, count in drain["preferred_leaders"]["after"].items() if count}
