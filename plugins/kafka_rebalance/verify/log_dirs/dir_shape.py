"""The shape of log_dirs.json, and its parameters."""

from __future__ import annotations

from typing import Any, Literal

from typing_extensions import TypedDict

from kafka_rebalance.verify.document.shape import BrokerKey, Fact, FormatVersion, Number, Whole, check_shape, exactly
from kafka_rebalance.verify.faults import FaultList


@exactly
class _Parameters(TypedDict):
    balance_within: Number | None
    remove_log_dirs: dict[BrokerKey, list[str]]
    throttle_bytes_per_s: Whole
    partitions_per_wave: Whole


@exactly
class _Disk(TypedDict):
    paths: list[str]
    is_removed: bool
    total_bytes: Whole | None
    used_before: Whole | None
    used_after: Whole | None
    held_before: Whole
    held_after: Whole
    floor_bytes: Whole | None
    ceiling_bytes: Whole | None


@exactly
class _Broker(TypedDict):
    broker: Whole
    dir_bytes: Whole
    lower_bound_bytes: Whole
    places: list[_Disk]


@exactly
class _Move(TypedDict):
    topic: str
    partition: Whole
    replicas: list[Whole]
    dirs_from: list[str | None]
    dirs_to: list[str | None]
    dir_bytes: Whole
    reasons: list[Fact]
    wave: Whole
    kind: str


@exactly
class _Wave(TypedDict):
    moves: list[Whole]
    dir_bytes: Whole
    seconds: Number


@exactly
class _DirPlan(TypedDict):
    format_version: FormatVersion
    plan_id: str
    cluster: str
    cluster_id: str | None
    snapshot_id: str
    captured_at: str | None
    advisor_version: str
    verdict: Literal["rebalance", "nothing_to_do", "not_fixable_by_moving", "cannot_tell"]
    reasons: list[Fact]
    parameters: _Parameters
    topic_ids: dict[str, str | None]
    replica_moves: Whole
    dir_bytes: Whole
    lower_bound_bytes: Whole
    seconds: Number
    brokers: list[_Broker]
    moves: list[_Move]
    waves: list[_Wave]
    left_out: dict[str, Fact]


def check_dir_shape(document: Any, faults: FaultList) -> bool:
    """Whether the document can be read at all."""
    if not check_shape(document, faults, _DirPlan):
        return False
    _check_parameters(document["parameters"], faults)
    return not faults.has_any()


def _check_parameters(parameters: dict[str, Any], faults: FaultList) -> None:
    within, removed = parameters["balance_within"], parameters["remove_log_dirs"]
    if within is not None and not 0 <= within < 1:
        faults.add("parameter", "parameters.balance_within", f"{within} is no share")
    if within is None and not removed:
        faults.add("parameter", "parameters", "ask for nothing")
    for broker, paths in removed.items():
        if not paths or paths != sorted(set(paths)):
            faults.add("parameter", f"parameters.remove_log_dirs.{broker}", "are no paths in order, each once")
    for name in ("throttle_bytes_per_s", "partitions_per_wave"):
        if parameters[name] < 1:
            faults.add("parameter", f"parameters.{name}", f"{parameters[name]} is below 1")
