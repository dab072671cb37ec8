from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from kafka_rebalance.facts import Fact
from kafka_rebalance.plans.plan import Plan, Watched, Wave
from kafka_rebalance.render.steps import step_figures
from rebalance_advisor.store.rows.results import replace_rows
from rebalance_advisor.store.run import lock_run
from rebalance_advisor.store.schema.connection import Connection, StoreError, named

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
        "plan_id": plan.plan_id,
        "verdict": plan.verdict.value,
        "reasons": _facts(plan.reasons),
        "expires_at": plan.expires_at,
        "replica_moves": plan.cost.replica_moves,
        "bytes": plan.cost.bytes,
        "leader_changes": plan.cost.leader_changes,
        "seconds": plan.cost.seconds,
        "seconds_slot_filling": plan.cost.seconds_slot_filling,
        "continues": plan.continues,
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
            "unit": outcome.unit,
            "source": outcome.source,
            "mean_level": outcome.mean_level,
            "basis": outcome.basis,
            "band_asked_low": outcome.band_asked[0],
            "band_asked_high": outcome.band_asked[1],
            "widened_low": outcome.widened_to[0],
            "widened_high": outcome.widened_to[1],
            "skew_before": outcome.skew_before,
            "skew_after": outcome.skew_after,
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
            "position": place,
            "topic": move.topic,
            "partition": move.partition,
            "from_replicas": move.from_replicas,
            "to_replicas": move.to_replicas,
            "leader_from": move.leader_from,
            "leader_to": move.leader_to,
            "kind": move.kind.value,
            "bytes": move.bytes,
            "wave": move.wave,
            **fact_columns("reason", move.reason),
            **fact_columns("consequence_if_skipped", move.worse_without),
        }
        for place, move in enumerate(plan.moves)
    ]


def fact_columns(name: str, fact: Fact) -> Row:
    document = fact.document()
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
            "bytes": wave.bytes,
            "seconds": wave.seconds,
            "throttle_bytes_per_s": wave.throttle_bytes_per_s,
            "free_disk_needed": {str(broker): needed for broker, needed in sorted(wave.free_disk_needed.items())},
        }
        for direction, waves in directions.items()
        for number, wave in enumerate(waves, start=1)
    ]


def _frontier_rows(plan: Plan) -> list[Row]:
    return [
        {
            "position": place,
            "tolerance": point.tolerance,
            "bytes": point.bytes,
            "replica_moves": point.replica_moves,
            "leader_changes": point.leader_changes,
            "seconds": point.seconds,
            "lower_bound_bytes": point.lower_bound_bytes,
            "skew": dict(point.skew),
            "name": point.name,
            "is_recommended": point.is_recommended,
            "reasons": _facts(point.reasons),
        }
        for place, point in enumerate(plan.frontier, start=1)
    ]


def _facts(facts: Sequence[Fact]) -> str:
    return json.dumps([fact.document() for fact in facts], ensure_ascii=False, separators=(",", ":"))
