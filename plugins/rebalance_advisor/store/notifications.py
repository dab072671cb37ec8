from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from psycopg.rows import class_row

from rebalance_advisor.store.schema.connection import Connection, named


@dataclass(frozen=True, slots=True)
class FindingNews:
    """``severity_before`` None: new."""

    run_id: str
    severity: str
    code: str
    subject_type: str
    subject: str
    team: str | None
    is_muted: bool
    severity_before: str | None
    recommendation_code: str | None = None
    recommendation_args: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NewestState:
    """Newest advisory (None: none yet) with its plan's cost, and newest run."""

    cluster: str
    published_run_id: str | None
    verdict: str | None
    published_age_seconds: float | None
    last_run_id: str | None
    last_run_state: str | None
    last_failure: str | None
    replica_moves: int | None = None
    bytes: float | None = None
    leader_changes: int | None = None


@dataclass(frozen=True, slots=True)
class SentMessage:
    kind: str
    subject_id: str
    sent_at: datetime


def load_state(connection: Connection, cluster: str) -> NewestState | None:
    with connection.cursor(row_factory=class_row(NewestState)) as cursor:
        return cursor.execute(named("newest_state"), {"cluster": cluster}).fetchone()


def load_news(connection: Connection, cluster: str) -> tuple[FindingNews, ...]:
    with connection.cursor(row_factory=class_row(FindingNews)) as cursor:
        return tuple(cursor.execute(named("finding_news"), {"cluster": cluster}).fetchall())


def load_sent(connection: Connection, cluster: str, recipient: str) -> tuple[SentMessage, ...]:
    """Last 60 days, oldest first."""
    with connection.cursor(row_factory=class_row(SentMessage)) as cursor:
        return tuple(cursor.execute(named("sent_lately"), {"cluster": cluster, "recipient": recipient}).fetchall())


def record_sent(connection: Connection, cluster: str, recipient: str, kind: str, subject_id: str) -> None:
    row = {"cluster": cluster, "recipient": recipient, "kind": kind, "subject_id": subject_id}
    connection.execute(named("insert_notification"), row)
