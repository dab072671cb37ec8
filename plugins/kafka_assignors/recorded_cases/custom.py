"""Families ``own:NAME`` and ``own-partitioner:NAME``: what somebody registered, on the inputs of Kafka's.

Members may have ``host``, ``clientId`` and ``userData`` (base64) beside the fields of the client families.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafka_assignors.partitioners import registry as partitioners
from kafka_assignors.partitioners.contract import RecordSample, TopicTarget
from kafka_assignors.partitioners.key_column import KeyColumn
from kafka_assignors.recorded_cases.client import Owned, rendered, request_of
from kafka_assignors.registry import own_by_name

Input = Mapping[str, Any]
Output = dict[str, Any]


def answer_assignor(name: str, case: Input) -> Output:
    """The assignment, as the client families record it."""
    request = request_of(case, Owned.SUBSCRIPTION)
    return rendered(request, own_by_name(name).assign(request))


def answer_partitioner(name: str, case: Input) -> Output:
    """The partition of one key; ``keyHex`` null is a record without one."""
    key = None if case["keyHex"] is None else bytes.fromhex(case["keyHex"])
    sample, target = RecordSample.of_keys(KeyColumn.of([key])), TopicTarget(int(case["numPartitions"]))
    return {"partition": int(partitioners.own_by_name(name).partition(sample, target)[0])}
