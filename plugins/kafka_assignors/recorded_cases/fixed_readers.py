from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafka_assignors.fixed_readers import Readers, flink_readers, mirror_maker_readers

Input = Mapping[str, Any]


def answer_flink(case: Input) -> dict[str, Any]:
    return _output(flink_readers(_counts(case), int(case["parallelism"])))


def answer_mirror_maker(case: Input) -> dict[str, Any]:
    return _output(mirror_maker_readers(_counts(case), int(case["tasksMax"])))


def _counts(case: Input) -> dict[str, int]:
    return {str(topic): int(partitions) for topic, partitions in case["topics"]}


def _output(readers: Readers) -> dict[str, Any]:
    return {"readers": {topic: list(numbers) for topic, numbers in sorted(readers.items())}}
