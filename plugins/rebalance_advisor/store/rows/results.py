"""Save a run's results; each table's transaction replaces earlier attempts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields, is_dataclass
from enum import Enum
from typing import Any, TypeAlias

from kafka_rebalance.facts import Fact
from kafka_rebalance.findings.finding import Finding, rank
from kafka_rebalance.plans.plan import Plan, Watched, Wave
from kafka_rebalance.render.steps import step_figures
from rebalance_advisor.store.rows import copy_rows, finding_evidence
from rebalance_advisor.store.run import OpenRun, empty, lock_run
from rebalance_advisor.store.schema.connection import Connection, StoreError, named
from rebalance_advisor.store.statistics import analyze_copied

# Mappings or dataclasses.
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
        "moved_rate_ratio", "same_rack_ratio", "drain_seconds", "basis", "is_reproduced", "advice", "rollover", "error",
        "cv_count", "cv_rate", "least_skew_count", "least_skew_rate", "partitions_without_reader", "subject",
        "variants", "mean_partitions_moved", "partitions_revoked", "partitions_unread", "longest_pause_ms",
        "unread_partition_ms", "members_falling_behind", "leader_in_rack_ratio", "lag_seconds",
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


def save_scores(connection: Connection, run_id: str, table: str, rows: Rows) -> None:
    columns = (*_REQUIRED[table], *_OPTIONAL[table])
    ready = [{"position": position} | _checked(table, columns, _as_mapping(row)) for position, row in enumerate(rows)]
    with connection.transaction():
        replace_rows(connection, lock_run(connection, run_id), table, ready)


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


def save_findings(connection: Connection, run_id: str, findings: Iterable[Finding]) -> None:
    ranked = rank(list(findings))
    keys = [finding.finding_key for finding in ranked]
    twice = sorted({key for key in keys if keys.count(key) > 1}) if len(set(keys)) < len(keys) else []
    if twice:
        raise StoreError(f"finding {twice[0]} is given twice; one finding says everything about its subject")
    rows = [
        {
            "position": position,
            "severity": finding.severity.value,
            "subject_type": finding.subject_type.value,
            "actor": finding.actor.value,
            "evidence": finding_evidence.packed(finding),
            **fact_columns("recommendation", finding.recommendation),
            **fact_columns("cost", finding.cost),
            "confidence": finding.confidence.value,
            **_same(finding, "finding_key", "code", "subject", "gain"),
            **_same(finding, "team", "channel", "tier", "muted_until", "mute_reason"),
        }
        for position, finding in enumerate(ranked, start=1)
    ]
    with connection.transaction():
        replace_rows(connection, lock_run(connection, run_id), "finding", rows)


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


def _as_mapping(row: Any) -> Mapping[str, Any]:
    if is_dataclass(row) and not isinstance(row, type):
        row = {attribute.name: getattr(row, attribute.name) for attribute in fields(row)}
    if isinstance(row, Mapping):
        return {_COLUMN_OF.get(str(name), str(name)): value for name, value in row.items()}
    raise StoreError(f"a row is a mapping or a dataclass, not {type(row).__name__}")


def _require_columns(table: str, names: Iterable[str]) -> None:
    columns = (*_REQUIRED[table], *_OPTIONAL[table])
    unknown = sorted(set(names) - set(columns))
    if unknown:
        raise StoreError(f"{table} has no column {unknown[0]!r}; its columns: {', '.join(columns)}")


def _checked(table: str, columns: tuple[str, ...], row: Mapping[str, Any]) -> dict[str, Any]:
    _require_columns(table, row)
    missing = [name for name in _REQUIRED[table] if row.get(name) is None]
    if missing:
        raise StoreError(f"{table}: {missing[0]!r} is missing in {dict(row)}")
    return {name: _DEFAULTS.get(name) if row.get(name) is None else row[name] for name in columns}


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
    if isinstance(sample, tuple) and sample and isinstance(sample[0], Fact):
        return copy_rows.document(None if value is None else [fact.document() for fact in value] for value in values)
    if isinstance(sample, list | tuple):
        is_text = any(isinstance(element, str) for value in values for element in value or ())
        return copy_rows.texts(values) if is_text else copy_rows.numbers(values)
    return copy_rows.plain(values)


Row = dict[str, Any]


def save_plan(connection: Connection, run_id: str, plan: Plan) -> None:
    if not plan.plan_id:
        raise StoreError("the plan has no plan_id; seal it first (Plan.sealed)")
    tables = {
        "plan": [_plan_row(plan)],
        "plan_resource": _resource_rows(plan),
        "plan_broker": _broker_rows(plan),
        "plan_bound": [
            {"cost": bound.cost, "value": bound.value, "gap": bound.gap, "proof": bound.proof.value}
            for bound in plan.lower_bound
        ],
        "move": _move_rows(plan),
        "wave": _wave_rows(plan),
        "plan_step": [asdict(step) for step in step_figures(plan.document)],
        "frontier_point": _frontier_rows(plan),
    }
    with connection.transaction():
        run = lock_run(connection, run_id)
        for table, rows in tables.items():
            replace_rows(connection, run, table, rows)


def load_plan(connection: Connection, run_id: str) -> Row:
    """Published or not."""
    row = connection.execute(named("plan_document"), {"run_id": run_id}).fetchone()
    if row is None:
        raise StoreError(f"run {run_id} has no plan")
    document: Row = json.loads(row[0])
    return document


def save_advisory(connection: Connection, run_id: str, document: Mapping[str, Any]) -> None:
    rest = {name: part for name, part in document.items() if name != "plan"}
    text = json.dumps(rest, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    with connection.transaction():
        replace_rows(connection, lock_run(connection, run_id), "advisory", [{"document": text}])


def load_advisory(connection: Connection, run_id: str) -> dict[str, Any]:
    row = connection.execute(named("advisory_document"), {"run_id": run_id}).fetchone()
    if row is None:
        raise StoreError(f"run {run_id} has no advisory; clear its task replay_and_plan")
    document: dict[str, Any] = json.loads(row[0])
    return document | {"plan": load_plan(connection, run_id)}


def _plan_row(plan: Plan) -> Row:
    return {
        "verdict": plan.verdict.value,
        "reasons": _facts(plan.reasons),
        **_same(plan, "plan_id", "expires_at", "continues"),
        **_same(plan.cost, "replica_moves", "bytes", "leader_changes", "seconds", "seconds_slot_filling"),
        "document": json.dumps(plan.document, ensure_ascii=False, allow_nan=False, separators=(",", ":")),
    }


def _resource_rows(plan: Plan) -> list[Row]:
    nothing: Row = dict.fromkeys(
        (
            "unit", "source", "mean_level", "basis", "band_asked_low", "band_asked_high", "widened_low", "widened_high",
            "skew_before", "skew_after", "exclusion_reason_code", "exclusion_reason_args", "watched_broker",
            "watched_load", "watched_capacity", "is_capacity_assumed",
        )
    )  # fmt: skip
    balanced: list[Row] = [
        {"resource": outcome.resource}
        | nothing
        | {
            **_same(outcome, "unit", "source", "mean_level", "basis", "skew_before", "skew_after"),
            "band_asked_low": outcome.band_asked[0],
            "band_asked_high": outcome.band_asked[1],
            "widened_low": outcome.widened_to[0],
            "widened_high": outcome.widened_to[1],
        }
        | ({} if outcome.watched is None else _watched_columns(outcome.watched))
        for outcome in plan.resources
    ]
    left_out: list[Row] = [
        {"resource": resource}
        | nothing
        | {"exclusion_reason_code": why.code.value, "exclusion_reason_args": why.document()["args"]}
        for resource, why in sorted(plan.left_out.items())
    ]
    return balanced + left_out


def _watched_columns(watched: Watched) -> Row:
    return {
        "watched_broker": watched.broker,
        "watched_load": watched.load,
        "watched_capacity": watched.capacity,
        "is_capacity_assumed": watched.is_assumed,
    }


def _broker_rows(plan: Plan) -> list[Row]:
    return [
        {
            "broker": broker,
            "resource": outcome.resource,
            "load_before": outcome.before.get(broker, 0.0),
            "load_after": outcome.after.get(broker, 0.0),
            "capacity": None if outcome.capacity is None else outcome.capacity.get(broker),
        }
        for outcome in plan.resources
        for broker in sorted(outcome.before.keys() | outcome.after.keys())
    ]


def _move_rows(plan: Plan) -> list[Row]:
    return [
        {
            "position": position,
            "kind": move.kind.value,
            **_same(move, "topic", "partition", "from_replicas", "to_replicas", "leader_from", "leader_to"),
            **_same(move, "bytes", "wave"),
            **fact_columns("reason", move.reason),
            **fact_columns("consequence_if_skipped", move.worse_without),
        }
        for position, move in enumerate(plan.moves)
    ]


def fact_columns(name: str, fact: Fact | None) -> Row:
    document = {"code": None, "args": None} if fact is None else fact.document()
    return {f"{name}_code": document["code"], f"{name}_args": document["args"]}


def _wave_rows(plan: Plan) -> list[Row]:
    directions: Mapping[str, tuple[Wave, ...]] = {
        "forward": plan.waves,
        "rollback": plan.rollback.waves if plan.rollback else (),
    }
    step_of = {m: n for n, step in enumerate(plan.steps, start=1) for w in step.waves for m in plan.waves[w - 1].moves}
    return [
        {
            "direction": direction,
            "wave": number,
            "step": step_of.get(wave.moves[0]) if wave.moves else None,
            "move_count": len(wave.moves),
            **_same(wave, "bytes", "seconds", "throttle_bytes_per_s"),
            "free_disk_needed": {str(broker): needed for broker, needed in sorted(wave.free_disk_needed.items())},
        }
        for direction, waves in directions.items()
        for number, wave in enumerate(waves, start=1)
    ]


def _frontier_rows(plan: Plan) -> list[Row]:
    return [
        {
            "position": position,
            "skew": dict(point.skew),
            **_same(point, "tolerance", "bytes", "replica_moves", "leader_changes", "seconds", "lower_bound_bytes"),
            **_same(point, "name", "is_recommended"),
            "reasons": _facts(point.reasons),
        }
        for position, point in enumerate(plan.frontier, start=1)
    ]


def _same(row: Any, *names: str) -> Row:
    """Return columns named as the row's attributes."""
    return {name: getattr(row, name) for name in names}


def _facts(facts: Sequence[Fact]) -> str:
    return json.dumps([fact.document() for fact in facts], ensure_ascii=False, separators=(",", ":"))
