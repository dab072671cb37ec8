"""A plan in rows: whole, in one transaction; and back as the document it was."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from kafka_rebalance.plans.plan import Plan, Wave, to_document
from rebalance_advisor.store.rows.results import replace_rows
from rebalance_advisor.store.run import open_run
from rebalance_advisor.store.schema.connection import Connection, StoreError, named

Row = dict[str, Any]


def save_plan(connection: Connection, run_id: str, plan: Plan) -> None:
    """Save a sealed plan with everything in it. Raises StoreError for one without ``plan_id``."""
    if not plan.plan_id:
        raise StoreError("the plan has no plan_id; seal it first (Plan.sealed)")
    tables = {
        "plan": [_plan_row(plan)],
        "plan_resource": _resource_rows(plan),
        "plan_broker": _broker_rows(plan),
        "plan_bound": [
            {"cost": each.cost, "value": each.value, "gap": each.gap, "proof": each.proof} for each in plan.lower_bound
        ],
        "move": _move_rows(plan),
        "wave": _wave_rows(plan),
        "frontier_point": _frontier_rows(plan),
    }
    with connection.transaction():
        run = open_run(connection, run_id)
        for table, rows in tables.items():
            replace_rows(connection, run, table, rows)


def load_plan(connection: Connection, run_id: str) -> Row:
    """The document of a run's plan (``plan.json``), published or not. Raises StoreError where it has none."""
    row = connection.execute(named("plan_document"), {"run_id": run_id}).fetchone()
    if row is None:
        raise StoreError(f"run {run_id} has no plan")
    document: Row = json.loads(row[0])
    return document


def _plan_row(plan: Plan) -> Row:
    return {
        "plan_id": plan.plan_id,
        "verdict": plan.verdict.value,
        "reasons": list(plan.reasons),
        "expires_at": plan.expires_at,
        "replica_moves": plan.cost.replica_moves,
        "bytes": plan.cost.bytes,
        "leader_changes": plan.cost.leader_changes,
        "seconds": plan.cost.seconds,
        "seconds_slot_filling": plan.cost.seconds_slot_filling,
        "continues": plan.continues,
        "document": json.dumps(to_document(plan), ensure_ascii=False, allow_nan=False, separators=(",", ":")),
    }


def _resource_rows(plan: Plan) -> list[Row]:
    nothing: Row = dict.fromkeys(
        (
            "unit", "source", "mean_level", "basis", "band_asked_low", "band_asked_high", "widened_low", "widened_high",
            "skew_before", "skew_after", "left_out_because",
        )
    )  # fmt: skip
    balanced: list[Row] = [
        {"resource": each.resource}
        | nothing
        | {
            "unit": each.unit,
            "source": each.source,
            "mean_level": each.mean_level,
            "basis": each.basis,
            "band_asked_low": each.band_asked[0],
            "band_asked_high": each.band_asked[1],
            "widened_low": each.widened_to[0],
            "widened_high": each.widened_to[1],
            "skew_before": each.skew_before,
            "skew_after": each.skew_after,
        }
        for each in plan.resources
    ]
    left_out: list[Row] = [
        {"resource": resource} | nothing | {"left_out_because": why} for resource, why in sorted(plan.left_out.items())
    ]
    return balanced + left_out


def _broker_rows(plan: Plan) -> list[Row]:
    return [
        {
            "broker": broker,
            "resource": each.resource,
            "before": each.before.get(broker, 0.0),
            "after": each.after.get(broker, 0.0),
            "capacity": None if each.capacity is None else each.capacity.get(broker),
        }
        for each in plan.resources
        for broker in sorted(each.before.keys() | each.after.keys())
    ]


def _move_rows(plan: Plan) -> list[Row]:
    return [
        {
            "position": place,
            "topic": each.topic,
            "partition": each.partition,
            "from_replicas": each.from_replicas,
            "to_replicas": each.to_replicas,
            "leader_from": each.leader_from,
            "leader_to": each.leader_to,
            "kind": each.kind.value,
            "bytes": each.bytes,
            "wave": each.wave,
            "reason": each.reason,
            "worse_without": each.worse_without,
        }
        for place, each in enumerate(plan.moves)
    ]


def _wave_rows(plan: Plan) -> list[Row]:
    directions: Mapping[str, tuple[Wave, ...]] = {
        "forward": plan.waves,
        "rollback": plan.rollback.waves if plan.rollback else (),
    }
    return [
        {
            "direction": direction,
            "wave": number,
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
            "tolerance": each.tolerance,
            "bytes": each.bytes,
            "replica_moves": each.replica_moves,
            "leader_changes": each.leader_changes,
            "lower_bound_bytes": each.lower_bound_bytes,
            "skew": dict(each.skew),
            "name": each.name,
            "is_recommended": each.is_recommended,
            "reason": each.reason,
        }
        for place, each in enumerate(plan.frontier, start=1)
    ]
