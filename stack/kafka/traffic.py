"""Traffic on a test cluster: producers that remember every acknowledged record, and consumer groups.

Python clients in threads of this process: they start at once and cost little.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Sequence
from typing import Any

_CLOSE_SECONDS = 300.0


class RememberingProducer:
    """Writes numbered records to topics in turn, ``acks=all``, and keeps the acknowledged ones.

    ``acknowledged``: (topic, partition, offset) → number. An acknowledged record must never be lost.
    """

    def __init__(
        self, bootstrap: str, topics: Sequence[str], *, records_per_s: float = 100, value_bytes: int = 200
    ) -> None:
        from kafka import KafkaProducer

        self._producer = KafkaProducer(
            bootstrap_servers=bootstrap.split(","), acks="all", enable_idempotence=True, linger_ms=50,
            delivery_timeout_ms=300_000,
        )  # fmt: skip
        self._topics = list(topics)
        self._pause_s = 1 / records_per_s
        self._padding = b"." * value_bytes
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self.acknowledged: dict[tuple[str, int, int], int] = {}
        self.failures: list[BaseException] = []
        self._thread = threading.Thread(target=self._write, name="remembering-producer", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._thread.join(_CLOSE_SECONDS)
        self._producer.flush(timeout=_CLOSE_SECONDS)
        self._producer.close(timeout=_CLOSE_SECONDS)

    def _write(self) -> None:
        number = 0
        while not self._stop.wait(self._pause_s):
            topic = self._topics[number % len(self._topics)]
            value = b"%d:%b" % (number, self._padding)
            sent = self._producer.send(topic, key=b"%d" % number, value=value)
            sent.add_callback(self._remember, number)
            sent.add_errback(self.failures.append)
            number += 1

    def _remember(self, number: int, where: Any) -> None:
        with self._lock:
            self.acknowledged[where.topic, where.partition, where.offset] = number


class ReadingGroup:
    """Classic consumer group: ``members`` consumers of one assignor that read and commit until stopped."""

    def __init__(
        self,
        bootstrap: str,
        group: str,
        topics: Sequence[str],
        *,
        members: int,
        assignor: type[Any] | None = None,
        is_static: bool = False,
    ) -> None:
        self._stop = threading.Event()
        self.failures: list[BaseException] = []
        self._threads = [
            threading.Thread(
                target=self._read, name=f"{group}-{i}", daemon=True,
                args=(bootstrap, group, list(topics), assignor, f"{group}-{i}", f"{group}-{i}" if is_static else None),
            )
            for i in range(members)
        ]  # fmt: skip
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(_CLOSE_SECONDS)

    def _read(
        self, bootstrap: str, group: str, topics: list[str], assignor: type[Any] | None, name: str, instance: str | None
    ) -> None:
        from kafka import KafkaConsumer

        extra: dict[str, Any] = {} if instance is None else {"group_instance_id": instance}
        if assignor is not None:
            extra["partition_assignment_strategy"] = [assignor]
        try:
            consumer = KafkaConsumer(
                *topics, bootstrap_servers=bootstrap.split(","), group_id=group, client_id=name,
                auto_offset_reset="earliest", auto_commit_interval_ms=500, fetch_min_bytes=65_536, **extra,
            )  # fmt: skip
            try:
                fetch_topics(consumer, topics)
                while not self._stop.is_set():
                    consumer.poll(timeout_ms=200)
            finally:
                consumer.close()
        except Exception as failure:  # noqa: BLE001  # told by the test that looks
            self.failures.append(failure)


def fetch_topics(consumer: Any, topics: Iterable[str]) -> None:
    """Let a consumer of kafka-python know its topics before it joins its group.

    A leader that joins before that joins again at once. Where this second join outlives the poll that began it,
    kafka-python 3.0 takes the group for joined, sends no heartbeat, and is put out for good.
    """
    for topic in topics:
        consumer.partitions_for_topic(topic)


def read_values(bootstrap: str, topics: Sequence[str], *, seconds: float = 300.0) -> dict[tuple[str, int, int], bytes]:
    from kafka import KafkaConsumer, TopicPartition

    consumer = KafkaConsumer(
        bootstrap_servers=bootstrap.split(","), enable_auto_commit=False, isolation_level="read_uncommitted"
    )
    try:
        partitions = [
            TopicPartition(topic, number) for topic in topics for number in consumer.partitions_for_topic(topic) or ()
        ]
        consumer.assign(partitions)
        consumer.seek_to_beginning(*partitions)
        ends = consumer.end_offsets(partitions)
        values: dict[tuple[str, int, int], bytes] = {}
        deadline = time.monotonic() + seconds
        while any(consumer.position(partition) < ends[partition] for partition in partitions):
            if time.monotonic() > deadline:
                raise TimeoutError(f"not all of {', '.join(topics)} could be read within {seconds} s")
            for where, records in consumer.poll(timeout_ms=500).items():
                values |= {(where.topic, where.partition, record.offset): record.value for record in records}
        return values
    finally:
        consumer.close()
