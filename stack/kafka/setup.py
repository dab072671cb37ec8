"""Topics, records and configs on a test cluster, by a Python client: faster than a JVM for each."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any


@contextlib.contextmanager
def admin(bootstrap: str) -> Iterator[Any]:
    from kafka import KafkaAdminClient

    client = KafkaAdminClient(
        bootstrap_servers=bootstrap.split(","), bootstrap_timeout_ms=120_000, request_timeout_ms=120_000
    )
    try:
        yield client
    finally:
        client.close()


def create_topics(
    bootstrap: str, placement: Mapping[str, Sequence[Sequence[int]]], configs: Mapping[str, Mapping[str, str]]
) -> None:
    """Create topic → replicas of each partition, in Kafka's order; returns when each leader serves its partitions.

    A leader in one broker's metadata may not know yet that it leads: it answers NotLeaderForPartition.
    """
    from kafka import KafkaConsumer, TopicPartition

    new_topics = {
        topic: {
            "assignments": {i: list(replica) for i, replica in enumerate(replicas)},
            "configs": dict(configs.get(topic, {})),
        }
        for topic, replicas in placement.items()
    }
    with admin(bootstrap) as client:
        client.create_topics(new_topics, wait_for_metadata=True)
    consumer = KafkaConsumer(bootstrap_servers=bootstrap.split(","))
    try:
        consumer.end_offsets([TopicPartition(topic, i) for topic, rows in placement.items() for i in range(len(rows))])
    finally:
        consumer.close()


def fill(bootstrap: str, records: Mapping[str, int], record_bytes: int = 1_000) -> None:
    """Write so many records of random bytes to each topic, all acknowledged, always the same."""
    from kafka import KafkaProducer

    producer = KafkaProducer(bootstrap_servers=bootstrap.split(","), acks="all", linger_ms=20, batch_size=128 * 1024)
    source = random.Random(7)
    try:
        for topic, count in records.items():
            for _ in range(count):
                producer.send(topic, value=source.randbytes(record_bytes))
        producer.flush(timeout=300)
    finally:
        producer.close()


def set_config(bootstrap: str, kind: str, name: str, **values: str | None) -> None:
    from kafka.admin import ConfigResource

    changes = {
        key.replace("__", "."): ("DELETE", None) if value is None else ("SET", value) for key, value in values.items()
    }
    with admin(bootstrap) as client:
        client.alter_configs([ConfigResource(kind.upper(), name, changes)], raise_on_unknown=False)
