"""What the gates found, kept as evidence; and who is left out of advice because of it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rebalance_advisor.store.run import block_run, load_run, lock_run
from rebalance_advisor.store.schema import sql_files
from rebalance_advisor.store.schema.connection import Connection, StoreError, named
from rebalance_advisor.store.snapshot_save import mark_snapshot


@dataclass(frozen=True, slots=True)
class Check:
    """What one rule found. ``sample`` holds the first rows that broke it; ``level`` is block, quarantine or warn."""

    rule: str
    level: str
    failed_rows: int
    sample: tuple[Mapping[str, Any], ...] = ()

    @property
    def is_passed(self) -> bool:
        """No row broke it."""
        return self.failed_rows == 0

    def __str__(self) -> str:
        if self.is_passed:
            return f"{self.rule}: passed"
        return f"{self.rule} ({self.level}): {self.first_rows}"

    @property
    def first_rows(self) -> str:
        """Return the first three rows by column, and how many more there are."""
        rows = "; ".join(", ".join(f"{name} {value}" for name, value in row.items()) for row in self.sample[:3])
        return rows + (f" and {self.failed_rows - 3} more" if self.failed_rows > 3 else "")


@dataclass(frozen=True, slots=True)
class Quarantined:
    """One subject that advice leaves out."""

    subject_type: str
    subject: str
    rule: str


def snapshot_batch(connection: Connection, snapshot_id: str) -> str:
    """The query whose one row is this snapshot: what input rules start from."""
    row = connection.execute(named("find_any_snapshot"), {"snapshot_id": snapshot_id}).fetchone()
    if row is None:
        raise StoreError(f"no snapshot {snapshot_id} is stored")
    return f"{sql_files.query('input_batch')} {int(row[0])}"


def run_batch(connection: Connection, run_id: str) -> str:
    """The query whose one row is this run: what result rules start from."""
    return f"{sql_files.query('results_batch')} {load_run(connection, run_id).key}"


def rule_query(rule: str, *, has_subjects: bool = False) -> str:
    """A gate rule's SQL, run once and summed up: one row of what is broken, none where the rule holds.

    ``failed_rows`` counts, ``sample`` is the first twenty rows as JSON, ``subjects`` every value of the rule's column
    ``subject`` in order, NULL without ``has_subjects``.
    """
    subjects = sql_files.query("subjects_of_rule") if has_subjects else "NULL::jsonb"
    text = sql_files.query("broken_rule").replace("[subjects]", subjects)
    return text.replace("[rule]", sql_files.check(rule))


def record_input_checks(
    connection: Connection, snapshot_id: str, checks: Sequence[Check], quarantined: Sequence[Quarantined]
) -> None:
    """Keep what the input gate found, replacing what it found before, and mark the snapshot passed or blocked."""
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
    """Keep what the result gate found, replacing what it found before; a run that it blocks is not published."""
    with connection.transaction():
        key = {"run_key": lock_run(connection, run_id).key}
        connection.execute(named("forget_result_checks"), key)
        _insert(connection, "record_result_check", [key | _row(check) for check in checks])
        if _blocks(checks):
            block_run(connection, run_id)


def load_quarantine(connection: Connection, snapshot_id: str) -> tuple[Quarantined, ...]:
    """Who advice on a snapshot leaves out, by type and name."""
    found = connection.execute(named("quarantine_of_snapshot"), {"snapshot_id": snapshot_id}).fetchall()
    return tuple(Quarantined(*row) for row in found)


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
