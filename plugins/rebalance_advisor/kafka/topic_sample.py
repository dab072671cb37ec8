"""Read keys and sizes of a topic's last records, without a group or commits.

Needs the Read right. Partitions contribute in proportion to their records, which keeps the skew. Aborted records count.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from kafka.protocol.consumer import FetchRequest
from kafka.record import MemoryRecords

from kafka_assignors.arrays import Ints, Longs
from kafka_assignors.errors import AdvisorError, InvalidInputError
from kafka_assignors.partitioners.key_column import KeyColumn
from kafka_assignors.visible_text import excerpt
from kafka_rebalance.render import render
from rebalance_advisor.kafka.cluster_metadata import look_again
from rebalance_advisor.kafka.connection.client import error_name, failure_text
from rebalance_advisor.kafka.connection.settings import ConnectionSettings
from rebalance_advisor.kafka.connection.whole_answers import LARGEST_ANSWER
from rebalance_advisor.kafka.coverage import Coverage
from rebalance_advisor.kafka.offsets import leaders_of, read_ends
from rebalance_advisor.kafka.read_cluster import DEADLINE_S, connected, round_seconds, unresponsive_at_first
from rebalance_advisor.kafka.request_sender import RequestSender

_BYTES_A_PARTITION, _BYTES_A_REQUEST = 1 << 20, 32 << 20
_BYTES_A_ROUND = LARGEST_ANSWER // 2  # over all leaders
_NAMED_TOPICS = 12  # later versions have topic ids
_WAIT_MS = 100
_UNKNOWN_TOPIC = 3


class TopicUnreadableError(AdvisorError):
    """Missing right or codec, or unresponsive partition."""


@dataclass(frozen=True, slots=True, eq=False)
class TopicSample:
    keys: KeyColumn
    value_bytes: Longs
    observed: Ints
    partitions: int
    gaps: tuple[str, ...] = ()


def read_topic_sample(
    settings: ConnectionSettings, topic: str, most_records: int, deadline_s: float = DEADLINE_S
) -> TopicSample:
    deadline = time.monotonic() + deadline_s
    with connected(settings) as client:
        sender = RequestSender(
            client, tuple(sorted(client.addresses)), deadline, round_seconds(settings.request_timeout_ms, deadline_s),
            unresponsive=unresponsive_at_first(client),
        )  # fmt: skip
        leaders, coverage, count = _leaders(sender, topic)
        starts, ends = read_ends(sender, leaders, coverage)
        ranges = {partition: (starts[topic, partition], end) for (_, partition), end in ends.items()
                 if (topic, partition) in starts}  # fmt: skip
        reading = _Reading(sender, topic, {partition: leaders[topic, partition] for partition in ranges})
        reading.read(newest(ranges, most_records), {partition: end for partition, (_, end) in ranges.items()})
    gaps = [f"partition {gap.subject}: {render(gap.what)}: {render(gap.reason)}" for gap in coverage.gaps]
    gaps += [f"partition {partition}: {why}" for partition, why in sorted(reading.failed.items())]
    if not reading.keys and gaps:
        raise TopicUnreadableError(f"topic {excerpt(topic)}: no record could be read ({gaps[0]}); Read on it is needed")
    return TopicSample(
        KeyColumn.of(reading.keys), np.array(reading.value_bytes, np.int64), np.array(reading.observed, np.int32),
        count, tuple(gaps),
    )  # fmt: skip


def newest(ranges: Mapping[int, tuple[int, int]], most_records: int) -> dict[int, int]:
    """First offsets in proportion to the records, at least one of each non-empty partition."""
    total = sum(end - start for start, end in ranges.values())
    share = min(1.0, most_records / total) if total else 0.0
    return {
        partition: end - max(1, int((end - start) * share)) for partition, (start, end) in ranges.items() if end > start
    }


def _leaders(sender: RequestSender, topic: str) -> tuple[dict[tuple[str, int], int], Coverage, int]:
    reading = look_again(sender, [topic])
    if isinstance(reading, Exception):
        raise TopicUnreadableError(f"topic {excerpt(topic)}: no broker told where it lies ({failure_text(reading)})")
    if topic not in reading.partitions:
        code = reading.errors.get(topic)
        why = "the cluster does not know it" if code in (None, _UNKNOWN_TOPIC) else error_name(code)
        raise InvalidInputError.at(f"topic {excerpt(topic)}", why, "is it spelt right, and may this login describe it?")
    coverage = Coverage()
    partitions = reading.partitions[topic]
    return leaders_of(partitions, coverage), coverage, len(partitions)


class _Reading:
    def __init__(self, sender: RequestSender, topic: str, leaders: Mapping[int, int]) -> None:
        self._sender, self._topic, self._leaders = sender, topic, leaders
        self.keys: list[bytes | None] = []
        self.value_bytes: list[int] = []
        self.observed: list[int] = []
        self.failed: dict[int, str] = {}

    def read(self, begin: Mapping[int, int], ends: Mapping[int, int]) -> None:
        at = dict(begin)
        while left := {p: offset for p, offset in at.items() if offset < ends[p] and p not in self.failed}:
            by_leader: dict[int, dict[int, int]] = defaultdict(dict)
            for partition, offset in sorted(left.items()):
                by_leader[self._leaders[partition]][partition] = offset
            most_bytes = min(_BYTES_A_REQUEST, _BYTES_A_ROUND // len(by_leader))
            requests = {broker: (broker, self._fetch(offsets, most_bytes)) for broker, offsets in by_leader.items()}
            for broker, answer in self._sender.send(requests).items():
                if isinstance(answer, Exception):
                    self.failed |= dict.fromkeys(by_leader[broker], failure_text(answer))
                    continue
                for row in (row for topic in answer.responses for row in topic.partitions):
                    at[row.partition_index] = self._take(row, at[row.partition_index], ends[row.partition_index])
            self._tell_stuck(left, at)

    def _fetch(self, offsets: Mapping[int, int], most_bytes: int) -> Any:
        topic_type = FetchRequest.FetchTopic
        rows = [
            topic_type.FetchPartition(
                partition=partition, fetch_offset=offset, partition_max_bytes=_BYTES_A_PARTITION
            )
            for partition, offset in offsets.items()
        ]  # fmt: skip
        return FetchRequest(
            max_wait_ms=_WAIT_MS, min_bytes=1, max_bytes=most_bytes, isolation_level=0,
            topics=[topic_type(topic=self._topic, partitions=rows)], max_version=_NAMED_TOPICS,
        )  # fmt: skip

    def _take(self, row: Any, at: int, end: int) -> int:
        if row.error_code:
            self.failed[row.partition_index] = error_name(int(row.error_code))
            return at
        try:
            for batch in MemoryRecords(row.records or b""):
                for record in () if getattr(batch, "is_control_batch", False) else batch:
                    if at <= record.offset < end:
                        self._add(record, row.partition_index)
                    at = max(at, record.offset + 1)
                at = max(at, getattr(batch, "next_offset", at))
        except Exception as failure:  # noqa: BLE001 # a missing codec raises many kinds
            self.failed[row.partition_index] = f"its records cannot be read ({failure_text(failure)})"
        return at

    def _add(self, record: Any, partition: int) -> None:
        self.keys.append(None if record.key is None else bytes(record.key))
        self.value_bytes.append(0 if record.value is None else len(record.value))
        self.observed.append(partition)

    def _tell_stuck(self, before: Mapping[int, int], after: Mapping[int, int]) -> None:
        if all(after[partition] <= offset for partition, offset in before.items()):
            for partition in before.keys() - self.failed.keys():
                self.failed[partition] = "its records do not come"
