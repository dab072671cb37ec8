"""Save a run's results; each table's transaction replaces earlier attempts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any, TypeAlias

from kafka_rebalance.facts import Fact
from kafka_rebalance.findings.finding import Finding, rank
from rebalance_advisor.store.rows import copy_rows, finding_evidence
from rebalance_advisor.store.run import OpenRun, empty, lock_run
from rebalance_advisor.store.schema.connection import Connection, StoreError
from rebalance_advisor.store.statistics import analyze_copied

# Mappings, dataclasses, or a pyarrow.Table.
Rows: TypeAlias = Iterable[Any]

_RESOURCE = ("resource", "unit", "load", "level", "level_to_mean_ratio")
_REQUIRED: dict[str, tuple[str, ...]] = {
    "broker_score": ("broker", *_RESOURCE, "remains_in_cluster"),
    "rack_score": ("rack", *_RESOURCE, "brokers"),
    "resource_score": ("resource", "unit", "total", "plain_mean", "skew"),
    "topic_score": ("topic", "placer", "seed", "replica_skew", "leader_skew", "replica_moves", "leader_changes"),
    "group_score": ("group_id", "assignor", "is_current", "is_recommended", "members", "partitions"),
    "member_score": ("group_id", "assignor", "is_current", "is_recommended", "member_id", "partitions"),
    "group_streams_scenario": (
        "group_id", "scenario", "changed_instances", "members", "active_tasks", "standby_tasks", "warmup_tasks",
        "most_active", "least_active", "idle_members", "active_of_instances", "standbys_of_instances", "active_moved",
        "active_restored", "standbys_restored", "unknown_parts",
    ),
}  # fmt: skip
_OPTIONAL: dict[str, tuple[str, ...]] = {
    "broker_score": ("rack", "capacity", "fair_share", "source"),
    "rack_score": ("capacity",),
    "resource_score": ("source", "known_share", "worst_broker"),
    "topic_score": ("disk_skew", "bytes_to_move", "rack_violations"),
    "group_score": (
        "version", "scenario", "idle_members", "skew_count", "skew_rate", "skew_lag", "partitions_moved",
        "moved_rate_ratio", "same_rack_ratio", "drain_seconds", "basis", "is_reproduced", "advice", "error",
        "cv_count", "cv_rate", "least_skew_count", "least_skew_rate", "partitions_without_reader", "subject",
        "variants", "mean_partitions_moved", "partitions_revoked", "partitions_unread", "longest_pause_ms",
        "unread_partition_ms", "members_falling_behind", "leader_in_rack_ratio",
    ),
    "member_score": (
        "instance_id", "rack", "in_bytes_per_s", "in_messages_per_s", "lag_messages", "drain_seconds",
        "is_falling_behind",
    ),
    "group_streams_scenario": ("instances", "standbys_missing", "standby_replicas"),
}  # fmt: skip
_DEFAULTS = {"scenario": "today"}
_COLUMN_OF = {
    "over_mean": "level_to_mean_ratio", "stays": "remains_in_cluster", "is_advised": "is_recommended",
    "instances": "changed_instances", "processes": "instances",
}  # fmt: skip
_PARTITIONED = frozenset(("broker_score", "topic_score", "group_score", "member_score", "plan_broker", "move"))


def save_broker_scores(connection: Connection, run_id: str, rows: Rows) -> None:
    _save(connection, run_id, "broker_score", rows)


def save_rack_scores(connection: Connection, run_id: str, rows: Rows) -> None:
    _save(connection, run_id, "rack_score", rows)


def save_resource_scores(connection: Connection, run_id: str, rows: Rows) -> None:
    _save(connection, run_id, "resource_score", rows)


def save_topic_scores(connection: Connection, run_id: str, rows: Rows) -> None:
    _save(connection, run_id, "topic_score", rows)


def save_group_scores(connection: Connection, run_id: str, rows: Rows) -> None:
    _save(connection, run_id, "group_score", rows)


def save_score_values(
    connection: Connection, run_id: str, table: str, names: Sequence[str], rows: Sequence[Sequence[Any]]
) -> None:
    """Plain values of attributes ``names``, without a mapping a row. Raises StoreError."""
    names = [_COLUMN_OF.get(name, name) for name in names]
    _require_columns(table, names)
    columns = dict(zip(names, zip(*rows, strict=True), strict=True)) if rows else {}
    ready = {"position": range(len(rows))} | columns
    with connection.transaction():
        _replace_columns(connection, lock_run(connection, run_id), table, ready, len(rows))


def save_member_scores(connection: Connection, run_id: str, rows: Rows) -> None:
    _save(connection, run_id, "member_score", rows)


def save_findings(connection: Connection, run_id: str, findings: Iterable[Finding]) -> None:
    ranked = rank(list(findings))
    keys = [finding.finding_key for finding in ranked]
    twice = sorted({key for key in keys if keys.count(key) > 1}) if len(set(keys)) < len(keys) else []
    if twice:
        raise StoreError(f"finding {twice[0]} is given twice; one finding says everything about its subject")
    rows = [
        {
            "position": place,
            "finding_key": finding.finding_key,
            "code": finding.code,
            "severity": finding.severity.value,
            "subject_type": finding.subject_type.value,
            "subject": finding.subject,
            "evidence": finding_evidence.packed(finding),
            **_fact_columns("recommendation", finding.recommendation),
            **_fact_columns("cost", finding.cost),
            "gain": finding.gain,
            "confidence": finding.confidence.value,
            "team": finding.team,
            "channel": finding.channel,
            "tier": finding.tier,
            "muted_until": finding.muted_until,
            "mute_reason": finding.mute_reason,
        }
        for place, finding in enumerate(ranked, start=1)
    ]
    with connection.transaction():
        replace_rows(connection, lock_run(connection, run_id), "finding", rows)


def _fact_columns(name: str, told: Fact | None) -> dict[str, Any]:
    document = {"code": None, "args": None} if told is None else told.document()
    return {f"{name}_code": document["code"], f"{name}_args": document["args"]}


def _save(connection: Connection, run_id: str, table: str, rows: Rows) -> None:
    known = (*_REQUIRED[table], *_OPTIONAL[table])
    ready = [{"position": place} | _checked(table, known, _as_mapping(row)) for place, row in enumerate(_each(rows))]
    with connection.transaction():
        replace_rows(connection, lock_run(connection, run_id), table, ready)


def replace_rows(connection: Connection, run: OpenRun, table: str, rows: list[dict[str, Any]]) -> None:
    columns = {name: [row[name] for row in rows] for name in (rows[0] if rows else ())}
    _replace_columns(connection, run, table, columns, len(rows))


def _replace_columns(
    connection: Connection, run: OpenRun, table: str, columns: Mapping[str, Sequence[Any]], count: int
) -> None:
    empty(connection, run, table)
    if not count:
        return
    ready: dict[str, copy_rows.Column] = {"run_key": copy_rows.constant(run.key, count)}
    if table in _PARTITIONED:
        ready["started_at"] = copy_rows.constant(run.started_at, count)
    ready |= {name: _column(values) for name, values in columns.items()}
    copied = copy_rows.copy_columns(connection, table, ready)
    analyze_copied(connection, {table: copied}, run.started_at)


def _each(rows: Rows) -> Iterable[Any]:
    to_pylist = getattr(rows, "to_pylist", None)  # no dependence on pyarrow
    return rows if to_pylist is None else to_pylist()


def _as_mapping(row: Any) -> Mapping[str, Any]:
    if is_dataclass(row) and not isinstance(row, type):
        row = {attribute.name: getattr(row, attribute.name) for attribute in fields(row)}
    if isinstance(row, Mapping):
        return {_COLUMN_OF.get(str(name), str(name)): value for name, value in row.items()}
    raise StoreError(f"a row is a mapping or a dataclass, not {type(row).__name__}")


def _require_columns(table: str, names: Iterable[str]) -> None:
    known = (*_REQUIRED[table], *_OPTIONAL[table])
    unknown = sorted(set(names) - set(known))
    if unknown:
        raise StoreError(f"{table} has no column {unknown[0]!r}; its columns: {', '.join(known)}")


def _checked(table: str, known: tuple[str, ...], row: Mapping[str, Any]) -> dict[str, Any]:
    _require_columns(table, row)
    missing = [name for name in _REQUIRED[table] if row.get(name) is None]
    if missing:
        raise StoreError(f"{table}: {missing[0]!r} is missing in {dict(row)}")
    return {name: _DEFAULTS.get(name) if row.get(name) is None else row[name] for name in known}


def _column(values: Sequence[Any]) -> copy_rows.Column:
    sample = next((value for value in values if value is not None), None)
    if isinstance(sample, bool):
        return [r"\N" if value is None else "t" if value else "f" for value in values]
    if isinstance(sample, Enum):
        return copy_rows.text(None if value is None else str(value.value) for value in values)
    if isinstance(sample, str):
        return copy_rows.text(values)
    if isinstance(sample, Fact):
        return copy_rows.document(None if value is None else value.document() for value in values)
    if isinstance(sample, Mapping):
        return copy_rows.document(values)
    if isinstance(sample, list | tuple):
        is_text = any(isinstance(element, str) for value in values for element in value or ())
        return copy_rows.texts(values) if is_text else copy_rows.numbers(values)
    return copy_rows.plain(values)
