from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest
from kafka.protocol.consumer import FetchRequest, FetchResponse, ListOffsetsRequest, ListOffsetsResponse
from kafka.record import MemoryRecordsBuilder

from kafka_assignors.errors import InvalidInputError
from rebalance_advisor.kafka.connection.properties import connection_settings
from rebalance_advisor.kafka.topic_sample import TopicSample, TopicUnreadableError, _Reading, newest, read_topic_sample
from tests.unit.kafka.canned_broker import CannedBroker, listening, topic_row

REFUSED = 29  # TopicAuthorizationFailed


def batch(first: int, *records: tuple[bytes | None, bytes | None]) -> bytes:
    """One batch of records from offset ``first``, as a producer and the broker make it."""
    builder = MemoryRecordsBuilder(magic=2, compression_type=0, batch_size=1 << 20)
    for key, value in records:
        builder.append(timestamp=1_000, key=key, value=value, headers=[])
    builder.close()
    return first.to_bytes(8, "big") + bytes(builder.buffer())[8:]


class Log:
    """Partition → the batches at its offsets: (first offset, records). ``errors``: Kafka's code of a partition."""

    def __init__(self, logs: dict[int, list[tuple[int, list[tuple[bytes | None, bytes | None]]]]]) -> None:
        self.batches = {
            p: [(first, first + len(records), batch(first, *records)) for first, records in parts]
            for p, parts in logs.items()
        }
        self.errors: dict[int, int] = {}
        self.ends = {p: parts[-1][1] if parts else 0 for p, parts in self.batches.items()}
        self.fetches: list[Any] = []

    def offsets(self, request: Any) -> Any:
        row = ListOffsetsResponse.ListOffsetsTopicResponse
        topics = [
            row(name=topic.name, partitions=[
                row.ListOffsetsPartitionResponse(
                    partition_index=partition.partition_index, error_code=0, timestamp=-1, leader_epoch=-1,
                    offset=self.ends[partition.partition_index] if partition.timestamp == -1 else 0,
                ) for partition in topic.partitions
            ]) for topic in request.topics
        ]  # fmt: skip
        return ListOffsetsResponse(throttle_time_ms=0, topics=topics)

    def fetch(self, request: Any) -> Any:
        """One batch of each partition, the one that holds the offset, as a broker answers a small limit."""
        self.fetches.append(request)
        row = FetchResponse.FetchableTopicResponse
        topics = []
        for topic in request.topics:
            partitions = []
            for partition in topic.partitions:
                result = [data for _, end, data in self.batches[partition.partition] if partition.fetch_offset < end][
                    :1
                ]
                code = self.errors.get(partition.partition, 0)
                partitions.append(row.PartitionData(
                    partition_index=partition.partition, error_code=code, high_watermark=self.ends[partition.partition],
                    last_stable_offset=0, log_start_offset=0, aborted_transactions=[], preferred_read_replica=-1,
                    records=b"" if code else b"".join(result),
                ))  # fmt: skip
            topics.append(row(topic=topic.topic, partitions=partitions))
        return FetchResponse(throttle_time_ms=0, error_code=0, session_id=0, responses=topics)


@contextmanager
def reading(log: Log, topic: str = "orders") -> Iterator[Any]:
    row = topic_row("orders", *[(1, [1], [1])] * len(log.batches))
    broker = CannedBroker({ListOffsetsRequest: (5, log.offsets), FetchRequest: (11, log.fetch)}, rows=[row])
    with listening(broker) as address:
        yield lambda most: read_topic_sample(connection_settings({}, bootstrap=address), topic, most)


def rows(sample: TopicSample) -> list[tuple[bytes | None, int, int]]:
    keys = [sample.keys.key(i) for i in range(len(sample.keys))]
    return sorted(zip(keys, sample.value_bytes.tolist(), sample.observed.tolist(), strict=True), key=repr)


LOGS = {
    # Offsets 5 and 6 are gone, as compaction leaves it.
    0: [(0, [(b"a", b"123"), (b"a", None), (b"", b"1"), (None, b"12"), (b"b", b"")]), (7, [(b"c", b"1")] * 3)],
    1: [(0, [(b"d", b"x" * 100)] * 10)],
    2: [],
}


def test_everything_is_read_where_it_is_less_than_asked_for() -> None:
    log = Log(LOGS)
    with reading(log) as read:
        sample = read(1_000)
    assert rows(sample) == sorted(
        [
            (b"a", 3, 0),
            (b"a", 0, 0),
            (b"", 1, 0),
            (None, 2, 0),
            (b"b", 0, 0),
            *[(b"c", 1, 0)] * 3,
            *[(b"d", 100, 1)] * 10,
        ],
        key=repr,
    )
    assert (sample.partitions, sample.gaps) == (3, ())
    assert {request.isolation_level for request in log.fetches} == {0}
    assert {
        partition.partition for request in log.fetches for topic in request.topics for partition in topic.partitions
    } == {0, 1}


def test_the_last_of_each_partition_are_taken_in_proportion() -> None:
    """6 of 20: 10 and 10 offsets give 3 each; a batch that begins before is cut."""
    with reading(Log(LOGS)) as read:
        assert rows(read(6)) == [*[(b"c", 1, 0)] * 3, *[(b"d", 100, 1)] * 3]


def test_what_each_partition_gives() -> None:
    """300 of 1,000: 0.3 of each, rounded down, at least one, of an empty one nothing."""
    known = {0: (100, 1_000), 1: (0, 98), 2: (7, 9), 3: (5, 5)}
    assert newest(known, 300) == {0: 730, 1: 69, 2: 8}
    assert newest(known, 10**6) == {0: 100, 1: 0, 2: 7}
    assert newest({}, 10) == {}


def test_a_partition_that_is_refused_or_does_not_come_is_told_and_the_others_are_read() -> None:
    log = Log(LOGS)
    log.errors[0] = REFUSED
    with reading(log) as read:
        sample = read(100)
    assert [p for _, _, p in rows(sample)] == [1] * 10
    assert sample.gaps == ("partition 0: TopicAuthorizationFailed (29)",)
    log = Log(LOGS)
    log.ends[1] = 12
    with reading(log) as read:
        assert read(100).gaps == ("partition 1: its records do not come",)


def test_without_the_right_to_read_it_says_so() -> None:
    log = Log(LOGS)
    log.errors |= dict.fromkeys(LOGS, REFUSED)
    with (
        reading(log) as read,
        pytest.raises(TopicUnreadableError, match=r"TopicAuthorizationFailed.*Read on it is needed"),
    ):
        read(10)


def test_a_topic_that_is_not_there_is_refused() -> None:
    with (
        reading(Log(LOGS), "order") as read,
        pytest.raises(InvalidInputError, match="topic 'order': the cluster does not know"),
    ):
        read(10)


def test_mangled_records_end_the_reading_of_their_partition_alone() -> None:
    """300 batches with some bytes changed or cut off: what kafka-python raises of them is of every kind."""
    whole = batch(0, *[(b"key-%d" % i, b"value") for i in range(8)])
    failed = 0
    for seed in range(300):
        rng = random.Random(seed)
        records = bytearray(whole)
        for _ in range(rng.randrange(1, 4)):
            records[rng.randrange(len(records))] = rng.randrange(256)
        if seed % 3 == 0:
            del records[rng.randrange(len(records)) :]
        reading = _Reading(None, "orders", {0: 1})  # type: ignore[arg-type]  # nothing is sent
        reading._take(SimpleNamespace(partition_index=0, error_code=0, records=bytes(records)), 0, 8)
        assert len(reading.keys) == len(reading.value_bytes) == len(reading.observed) <= 8, seed
        failed += 0 in reading.failed
    assert 20 < failed < 280
