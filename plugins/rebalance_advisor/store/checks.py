from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from psycopg import sql
from psycopg.rows import dict_row

from rebalance_advisor.store.run import block_run, lock_run
from rebalance_advisor.store.schema import sql_files
from rebalance_advisor.store.schema.connection import Connection, StoreError, named
from rebalance_advisor.store.snapshot_save import mark_snapshot


@dataclass(frozen=True, slots=True)
class Check:
    """``sample``: first failing rows; ``level``: block, quarantine or warn."""

    rule: str
    level: str
    failed_rows: int
    sample: tuple[Mapping[str, Any], ...] = ()

    @property
    def is_passed(self) -> bool:
        return self.failed_rows == 0

    def __str__(self) -> str:
        if self.is_passed:
            return f"{self.rule}: passed"
        return f"{self.rule} ({self.level}): {self.first_rows}"

    @property
    def first_rows(self) -> str:
        rows = "; ".join(", ".join(f"{name} {value}" for name, value in row.items()) for row in self.sample[:3])
        return rows + (f" and {self.failed_rows - 3} more" if self.failed_rows > 3 else "")


@dataclass(frozen=True, slots=True)
class Quarantined:
    subject_type: str
    subject: str
    rule: str


def require_snapshot(connection: Connection, snapshot_id: str) -> None:
    """Raises StoreError unless it is stored, in any status."""
    if connection.execute(named("find_any_snapshot"), {"snapshot_id": snapshot_id}).fetchone() is None:
        raise StoreError(f"no snapshot {snapshot_id} is stored")


def broken_subjects(connection: Connection, rule: str, snapshot_id: str) -> tuple[str, ...]:
    """All subjects; Great Expectations returns at most 200 rows."""
    query = sql.SQL(sql_files.query("broken_subjects").replace("[rule]", "{}")).format(sql.Identifier(f"gate_{rule}"))
    return tuple(row[0] for row in connection.execute(query, {"snapshot_id": snapshot_id}))


def record_input_checks(
    connection: Connection, snapshot_id: str, checks: Sequence[Check], quarantined: Sequence[Quarantined]
) -> None:
    """Mark the snapshot passed or blocked."""
    with connection.transaction():
        mark_snapshot(connection, snapshot_id, is_blocked=_blocks(checks))
        key = {"snapshot_id": snapshot_id}
        for query in ("forget_input_checks", "forget_quarantine"):
            connection.execute(named(query), key)
        _insert(connection, "record_input_check", [key | _row(check) for check in checks])
        rows = [
            key | {"subject_type": subject.subject_type, "subject": subject.subject, "rule": subject.rule}
            for subject in quarantined
        ]
        _insert(connection, "record_quarantine", rows)


def record_result_checks(connection: Connection, run_id: str, checks: Sequence[Check]) -> None:
    """A blocked run is not published."""
    with connection.transaction():
        key = {"run_key": lock_run(connection, run_id).key}
        connection.execute(named("forget_result_checks"), key)
        _insert(connection, "record_result_check", [key | _row(check) for check in checks])
        if _blocks(checks):
            block_run(connection, run_id)


def load_checks(connection: Connection, run_id: str) -> list[dict[str, Any]]:
    cursor = connection.cursor(row_factory=dict_row)
    return cursor.execute(named("checks_of_run"), {"run_id": run_id}).fetchall()


def load_quarantine(connection: Connection, snapshot_id: str) -> tuple[Quarantined, ...]:
    rows = connection.execute(named("quarantine_of_snapshot"), {"snapshot_id": snapshot_id}).fetchall()
    return tuple(Quarantined(*row) for row in rows)


def _blocks(checks: Sequence[Check]) -> bool:
    return any(check.level == "block" and not check.is_passed for check in checks)


def _row(check: Check) -> dict[str, Any]:
    sample = json.dumps([dict(row) for row in check.sample], default=str, ensure_ascii=False)
    return {
        "rule": check.rule, "level": check.level, "failed_rows": check.failed_rows, "sample": sample,
    }  # fmt: skip


def _insert(connection: Connection, query: str, rows: list[dict[str, Any]]) -> None:
    if rows:
        connection.cursor().executemany(named(query), rows)
