"""User data of classic Kafka Streams members: 220 samples that Kafka's own classes wrote, and damaged bytes."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from kafka_rebalance.groups.streams_user_data import decode_streams_assignment, decode_streams_subscription
from kafka_rebalance.groups.subscriptions import OddBytesError
from kafka_rebalance.snapshot.group import Tasks

RECORDED = Path(__file__).parents[2] / "data" / "streams_user_data" / "kafka-4.3.1.jsonl.gz"
SAMPLES: list[dict[str, Any]] = [json.loads(line) for line in gzip.decompress(RECORDED.read_bytes()).splitlines()]


def names(tasks: tuple[tuple[str, tuple[int, ...]], ...]) -> set[str]:
    return {f"{subtopology}_{partition}" for subtopology, numbers in tasks for partition in numbers}


def require_same(sample: dict[str, Any]) -> None:
    """What we read is what Kafka's own class reads in these bytes."""
    data = bytes.fromhex(sample["hex"])
    if sample["kind"] == "assignment":
        tasks = decode_streams_assignment(data)
    else:
        streams_subscription = decode_streams_subscription(data)
        tasks = streams_subscription.had
        assert (streams_subscription.version, streams_subscription.process_id) == (
            sample["version"],
            sample["process_id"],
        )
        assert streams_subscription.tags == sample["tags"]
        assert (streams_subscription.offset_sums is None) == (sample["version"] < 7)
        sums = {
            f"{name}_{number}": total
            for name, pairs in streams_subscription.offset_sums or ()
            for number, total in pairs
        }
        assert sums == {task: total for task, total in sample["offset_sums"].items() if total >= 0}
    assert (names(tasks.active), names(tasks.standby)) == (set(sample["active"]), set(sample["standby"])), sample


def test_every_recorded_sample_is_read_as_kafka_reads_it() -> None:
    assert {(item["kind"], item["version"]) for item in SAMPLES} == {
        (kind, version) for kind in ("subscription", "assignment") for version in range(1, 12)
    }
    for sample in SAMPLES:
        require_same(sample)


def test_damaged_bytes_are_odd_and_never_another_error() -> None:
    """Each sample is cut somewhere, and has a byte changed; what can still be read is tasks."""
    dice, odd = Random(11), 0
    for sample in SAMPLES:
        data = bytes.fromhex(sample["hex"])
        changed = bytearray(data)
        changed[dice.randrange(len(data))] = dice.randrange(256)
        for damaged in (data[: dice.randrange(len(data))], bytes(changed)):
            try:
                if sample["kind"] == "assignment":
                    assert isinstance(decode_streams_assignment(damaged), Tasks)
                else:
                    decode_streams_subscription(damaged)
            except OddBytesError:
                odd += 1
    assert odd > 150


@pytest.mark.parametrize("version", [0, 12, -1])
def test_an_unknown_version_is_named(version: int) -> None:
    data = version.to_bytes(4, "big", signed=True) + bytes(40)
    for decode in (decode_streams_assignment, decode_streams_subscription):
        with pytest.raises(OddBytesError, match=f"version {version}, known are 1 to 11"):
            decode(data)
