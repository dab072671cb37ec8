"""A topic whose older records lie in tiered storage: it begins there, its bytes begin on the broker's own disk."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from kafka_rebalance.snapshot.model import ClusterSnapshot, Partition
from rebalance_advisor.kafka.read_cluster import read_cluster
from stack.jvm.maven import fetch
from stack.kafka.cluster import ClusterSpec, start_cluster
from stack.kafka.setup import create_topics, fill
from stack.waiting import wait_for
from tests.live.kafka_classes import LOCAL_STORAGE

pytestmark = pytest.mark.live
RECORDS, RECORD_BYTES = 4_000, 1_000
SWITCH = {"remote.log.storage.system.enable": "true"}
CONFIGS = {
    "remote.storage.enable": "true", "retention.ms": "-1", "segment.bytes": "1048576", "local.retention.ms": "-1",
    "local.retention.bytes": "1000000",
}  # fmt: skip


def tiered(folder: Path) -> ClusterSpec:
    """One broker with the storage that Kafka tests itself by: a folder."""
    jars = fetch([f"org.apache.kafka:kafka-storage:{LOCAL_STORAGE}:test"], is_transitive=False)
    return ClusterSpec(
        version=LOCAL_STORAGE,
        racks={1: "a"},
        broker_properties=SWITCH
        | {
            "remote.log.storage.manager.class.name": "org.apache.kafka.server.log.remote.storage.LocalTieredStorage",
            "remote.log.storage.manager.class.path": f"{jars}/*",
            "remote.log.metadata.manager.listener.name": "CLIENT",
            "rlmm.config.remote.log.metadata.topic.replication.factor": "1",
            "rlmm.config.remote.log.metadata.topic.num.partitions": "1",
            "rsm.config.dir": str(folder),
            "log.retention.check.interval.ms": "500",
            "remote.log.manager.task.interval.ms": "500",
            "log.initial.task.delay.ms": "500",
        },
        controller_properties=SWITCH,
    )


def test_a_tiered_topic_begins_where_its_readers_begin_and_its_bytes_where_the_disk_does(tmp_path: Path) -> None:
    """Four segments of a megabyte, of which the disk keeps the last one or two: a record takes a kilobyte, as written;
    all records over the bytes on disk would be a fraction of it.
    """
    with start_cluster(tiered(tmp_path / "remote"), tmp_path / "cluster") as cluster:
        create_topics(cluster.bootstrap, {"cold": [[1]], "warm": [[1]]}, {"cold": CONFIGS})
        fill(cluster.bootstrap, {"cold": RECORDS, "warm": 10}, RECORD_BYTES)

        def cold(seen: ClusterSnapshot) -> Partition:
            return seen.partition(seen.row_of["cold", 0])

        reading = {"bootstrap.servers": cluster.bootstrap}
        snapshot = wait_for(
            "segments to be moved off the disk",
            lambda: read_cluster(reading, cluster_name="tiered", now=datetime.now(UTC)), gist=cold,
            until=lambda seen: cold(seen).local_start_offset, unchanged_s=3, every_s=3,
        )  # fmt: skip
        row = cold(snapshot)
        printed = {
            when: cluster.tools.offsets("--time", when, "--topic", "cold")["cold", 0] for when in ("-4", "earliest")
        }
    assert snapshot.coverage == ()
    assert (row.local_start_offset, row.start_offset) == (printed["-4"], printed["earliest"])
    assert (row.start_offset, row.end_offset) == (0, RECORDS)
    assert row.log_bytes[0] is not None
    local = row.log_bytes[0] / (RECORDS - row.local_start_offset)
    assert RECORD_BYTES < local < 1.2 * RECORD_BYTES
    assert row.log_bytes[0] / RECORDS < 0.7 * RECORD_BYTES
    assert snapshot.partition(snapshot.row_of["warm", 0]).local_start_offset is None
