"""Brokers, quotas, features and coverage as JSON objects and back."""

from __future__ import annotations

from typing import Any

from kafka_rebalance.errors import InvalidInputError
from kafka_rebalance.snapshot.capacity import CAPACITY_LIMITS
from kafka_rebalance.snapshot.codec.fields import Fields, text
from kafka_rebalance.snapshot.coverage import REASONS, WHAT, read_fact
from kafka_rebalance.snapshot.model import (
    Broker,
    BrokerState,
    Capacity,
    CoverageGap,
    LogDir,
    Quota,
)
from kafka_rebalance.snapshot.ranges import (
    LARGEST_INT32,
    LARGEST_INT64,
    LARGEST_PORT,
    LARGEST_QUOTA,
    SMALLEST_CAPACITY,
)
from kafka_rebalance.visible_text import excerpt


def broker_document(broker: Broker) -> dict[str, Any]:
    """``log_dirs``, ``capacity`` and ``configs`` only where there is something to say."""
    capacity = {name: value for name in CAPACITY_LIMITS if (value := getattr(broker.capacity, name)) is not None}
    document: dict[str, Any] = {"id": broker.id, "rack": broker.rack, "host": broker.host, "port": broker.port}
    document |= {"state": broker.state.value, "is_controller": broker.is_controller}
    document |= {"log_dirs": [_log_dir_document(log_dir) for log_dir in broker.log_dirs]} if broker.log_dirs else {}
    document |= {"capacity": capacity} if capacity else {}
    document |= {"configs": dict(broker.configs)} if broker.configs else {}
    return document


def read_broker(item: Any, path: str) -> Broker:
    """Raises InvalidInputError for an unknown state or field."""
    fields = Fields(item, path)
    state = fields.get("state", str, BrokerState.ALIVE.value)
    if state not in set(BrokerState):
        raise InvalidInputError.at(f"{path}.state", f"{excerpt(state)} is unknown", f"known: {', '.join(BrokerState)}")
    capacity = Fields(fields.raw("capacity", {}), f"{path}.capacity")
    broker = Broker(
        id=fields.whole("id", 0, LARGEST_INT32),
        rack=fields.get("rack", str, None),
        host=fields.get("host", str, None),
        port=fields.whole("port", 0, LARGEST_PORT, None),
        state=BrokerState(state),
        is_controller=fields.get("is_controller", bool, False),
        log_dirs=fields.each("log_dirs", _read_log_dir),
        capacity=Capacity(
            **{name: capacity.real(name, SMALLEST_CAPACITY, high, None) for name, high in CAPACITY_LIMITS.items()}
        ),
        configs=fields.strings("configs"),
    )
    capacity.done()
    fields.done()
    return broker


def gap_document(gap: CoverageGap) -> dict[str, Any]:
    """One thing that could not be read."""
    return {
        "subject_type": gap.subject_type,
        "subject": gap.subject,
        "what": gap.what.document(),
        "reason": gap.reason.document(),
    }


def read_gap(item: Any, path: str) -> CoverageGap:
    """The inverse of ``gap_document``."""
    fields = Fields(item, path)
    gap = CoverageGap(
        fields.get("subject_type", str),
        fields.get("subject", str),
        read_fact(fields.raw("what"), WHAT, f"{path}.what"),
        read_fact(fields.raw("reason"), REASONS, f"{path}.reason"),
    )
    fields.done()
    return gap


def quota_document(quota: Quota) -> dict[str, Any]:
    """The entity as rows of [type, name], a name of null for the default."""
    return {"entity": [list(part) for part in quota.entity], "values": dict(quota.values)}


def read_quota(item: Any, path: str) -> Quota:
    """The inverse of ``quota_document``."""
    fields = Fields(item, path)
    values = Fields(fields.raw("values"), f"{path}.values")
    names = sorted(fields.raw("values"))
    quota = Quota(
        fields.each("entity", _read_entity), {name: values.real(name, 0, LARGEST_QUOTA) for name in names}
    )  # fmt: skip
    values.done()
    fields.done()
    return quota


def _read_entity(item: Any, path: str) -> tuple[str, str | None]:
    if not isinstance(item, list) or len(item) != 2 or not isinstance(item[1], (str, type(None))):
        raise InvalidInputError.at(path, f"expected [type, name or null], found {excerpt(item)}")
    return text(item[0], path), item[1]


def read_features(item: Any, path: str) -> dict[str, int]:
    """Feature → finalized level."""
    fields = Fields(item, path)
    return {name: fields.whole(name, 0, LARGEST_INT32) for name in sorted(item)}


def _log_dir_document(log_dir: LogDir) -> dict[str, Any]:
    document: dict[str, Any] = {"path": log_dir.path, "total_bytes": log_dir.total_bytes}
    document |= {"usable_bytes": log_dir.usable_bytes, "is_cordoned": log_dir.is_cordoned}
    document |= {"error": log_dir.error} if log_dir.error else {}
    strays = {"stray_logs": log_dir.stray_logs, "stray_bytes": log_dir.stray_bytes}
    return document | (strays | {"largest_stray": log_dir.largest_stray} if log_dir.stray_logs else {})


def _read_log_dir(item: Any, path: str) -> LogDir:
    fields = Fields(item, path)
    log_dir = LogDir(
        path=fields.get("path", str),
        total_bytes=fields.whole("total_bytes", 0, LARGEST_INT64, None),
        usable_bytes=fields.whole("usable_bytes", 0, LARGEST_INT64, None),
        error=fields.get("error", str, None),
        is_cordoned=fields.get("is_cordoned", bool, False),
        stray_logs=fields.whole("stray_logs", 0, LARGEST_INT64, 0),
        stray_bytes=fields.whole("stray_bytes", 0, LARGEST_INT64, 0),
        largest_stray=fields.get("largest_stray", str, None),
    )
    fields.done()
    return log_dir
