from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from psycopg.types.json import Jsonb

from kafka_rebalance.plans.applied import AppliedPlan
from kafka_rebalance.plans.apply_state import ApplyState
from rebalance_advisor.store.schema.connection import Connection, StoreError, named


@dataclass(frozen=True, slots=True)
class Application:
    """``failure`` blocks it; ``check_status``: of the check before ``commands_shown_at``. None: not yet."""

    application_id: str
    run_id: str
    cluster: str
    state: ApplyState
    failure: str | None
    check_status: str | None
    commands_shown_at: datetime | None


@dataclass(frozen=True, slots=True)
class Seconds:
    """``basis`` of ``realised``: reported by the person, or an upper limit (since the commands were shown)."""

    predicted: float | None
    realised: float | None = None
    basis: str | None = None


def ask_application(connection: Connection, application_id: str, run_id: str) -> None:
    _fetch_one(connection, "ask_application", {"application_id": application_id, "run_id": run_id})


def answer_application(
    connection: Connection,
    application_id: str,
    state: ApplyState,
    *,
    answered_by: str | None,
    answered_at: datetime | None,
) -> None:
    row = {"state": state.value, "answered_by": answered_by, "answered_at": answered_at}
    _fetch_one(connection, "answer_application", {"application_id": application_id} | row)


def check_application(
    connection: Connection,
    application_id: str,
    state: ApplyState,
    *,
    snapshot_id: str,
    status: str,
    reasons: Sequence[Mapping[str, Any]],
) -> None:
    row = {
        "application_id": application_id, "state": state.value, "snapshot_id": snapshot_id, "check_status": status,
        "check_reasons": Jsonb(list(reasons)),
    }  # fmt: skip
    _fetch_one(connection, "check_application", row)


def close_application(
    connection: Connection, application_id: str, snapshot_id: str, applied: AppliedPlan, seconds: Seconds
) -> None:
    counts = {f"{state.value}_count": count for state, count in applied.counts.items()}
    row = {
        "application_id": application_id, "snapshot_id": snapshot_id, "state": applied.state.value,
        "move_count": len(applied.states), "short_isr": list(applied.short_isr),
        "throttles": [f"{subject} {key}" for subject, key in applied.throttles],
        "predicted_bytes": applied.predicted_bytes, "realised_bytes": applied.realised_bytes,
        "unsized_move_count": applied.unsized_moves, "predicted_seconds": seconds.predicted,
        "realised_seconds": seconds.realised, "seconds_basis": seconds.basis,
    }  # fmt: skip
    _fetch_one(connection, "close_application", row | counts)


def open_applications(connection: Connection) -> list[tuple[str, str]]:
    return [(str(cluster), str(name)) for cluster, name in connection.execute(named("open_applications")).fetchall()]


def give_up_application(connection: Connection, application_id: str, failure: str) -> bool:
    """False if a reason is recorded, or it has ended.

    A pending approval becomes ``timed_out``; an approved plan stays approved, because it may have been executed.
    """
    row = {"application_id": application_id, "failure": failure}
    return connection.execute(named("give_up_application"), row).fetchone() is not None


def load_application(connection: Connection, application_id: str) -> Application:
    row = _fetch_one(connection, "load_application", {"application_id": application_id})
    name, run_id, cluster, state, *rest = row
    return Application(name, run_id, cluster, ApplyState(state), *rest)


def _fetch_one(connection: Connection, query: str, parameters: Mapping[str, Any]) -> tuple[Any, ...]:
    row = connection.execute(named(query), dict(parameters)).fetchone()
    if row is None:
        about = ", ".join(str(parameters[name]) for name in ("application_id", "run_id") if name in parameters)
        raise StoreError(f"no published run, or no application of that name: {about}")
    return row
