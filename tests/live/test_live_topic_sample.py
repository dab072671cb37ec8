"""The last records of a topic on a real broker: keys, sizes, partitions as they were written; no group appears."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from kafka import KafkaProducer

from rebalance_advisor.cli.main import main
from rebalance_advisor.kafka.connection.properties import connection_settings
from rebalance_advisor.kafka.topic_sample import read_topic_sample
from stack.kafka.cluster import ClusterSpec, KafkaCluster, start_cluster
from stack.kafka.setup import admin, create_topics

pytestmark = pytest.mark.live
PARTITIONS = 6
# Of 5,000 records each third has the hot key; some have none, some an empty one.
KEYS = [b"hot" if i % 3 == 0 else None if i % 50 == 1 else b"" if i % 50 == 2 else b"k%d" % i for i in range(5_000)]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaCluster]:
    folder: Path = tmp_path_factory.mktemp("kafka") / "cluster"
    with start_cluster(ClusterSpec(racks={1: "a", 2: "b"}), folder) as started:
        create_topics(started.bootstrap, {"orders": [[1 + p % 2] for p in range(PARTITIONS)]}, {})
        yield started


@pytest.fixture(scope="module")
def written(cluster: KafkaCluster) -> Counter[tuple[bytes | None, int, int]]:
    """(key, bytes of the value, partition) of each record; kafka-python places by murmur2, as Java. Compressed."""
    producer = KafkaProducer(bootstrap_servers=cluster.bootstrap.split(","), acks="all", compression_type="gzip")
    sent = [(key, i % 90, producer.send("orders", key=key, value=b"v" * (i % 90))) for i, key in enumerate(KEYS)]
    producer.flush(timeout=300)
    counts = Counter((key, size, future.get(timeout=300).partition) for key, size, future in sent)
    producer.close()
    return counts


def test_all_records_are_found_as_they_were_written(
    cluster: KafkaCluster, written: Counter[tuple[bytes | None, int, int]]
) -> None:
    settings = connection_settings({}, bootstrap=cluster.bootstrap)
    sample = read_topic_sample(settings, "orders", 10**6)
    keys = (sample.keys.key(i) for i in range(len(sample.keys)))
    assert Counter(zip(keys, sample.value_bytes.tolist(), sample.observed.tolist(), strict=True)) == written
    assert (sample.partitions, sample.gaps) == (PARTITIONS, ())
    fewer = read_topic_sample(settings, "orders", 500)
    assert 500 - PARTITIONS <= len(fewer.keys) <= 500
    with admin(cluster.bootstrap) as client:
        assert client.list_groups() == []


def test_the_command_names_the_hot_partition_and_who_wrote_it(
    cluster: KafkaCluster, written: Counter[tuple[bytes | None, int, int]], tmp_path: Path
) -> None:
    out = tmp_path / "keys.json"
    arguments = ["keys", "--bootstrap", cluster.bootstrap, "--topic", "orders", "--partitioner", "default"]
    assert main([*arguments, "--partitioner", "sarama-hash", "--sample", "100000", "--out", str(out)]) == 0
    document = json.loads(out.read_text())
    assert document["records"] == sum(written.values()) == len(KEYS)
    (hot,) = {partition for key, _, partition in written if key == b"hot"}
    own, sarama = document["placements"]
    assert own["records"].index(max(own["records"])) == hot == document["heavy_keys"][0]["partitions"][0]
    assert document["heavy_keys"][0]["records_at_least"] == KEYS.count(b"hot")
    assert own["agreeing_record_ratio"] == 1.0
    assert sarama["agreeing_record_ratio"] < 0.7
    assert "hot" not in out.read_text()
