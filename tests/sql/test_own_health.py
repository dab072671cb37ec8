"""The advisor tells of itself: what was published, refused, failed or never ended, and when it last read."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from psycopg.rows import dict_row

from kafka_assignors.errors import InvalidInputError
from rebalance_advisor import store
from rebalance_advisor.store.failures import TaskFailure, record_failure
from tests.sql.sample_clusters import plain_snapshot, small_plan

pytestmark = pytest.mark.stack

HOUR = timedelta(hours=1)


@pytest.fixture
def snapshot_id(connection) -> str:
    captured_at = (datetime.now(UTC) - HOUR).isoformat()
    snapshot_id = store.save_snapshot(connection, plain_snapshot(captured_at=captured_at))
    store.mark_snapshot(connection, snapshot_id, is_blocked=False)
    return snapshot_id


def start(connection, run_id: str, snapshot_id: str) -> None:
    store.start_run(connection, run_id=run_id, cluster="prod", snapshot_id=snapshot_id)


def publish(connection, run_id: str, snapshot_id: str) -> None:
    start(connection, run_id, snapshot_id)
    store.save_plan(connection, run_id, small_plan(snapshot_id))
    store.publish_run(connection, run_id)


def fail(connection, dag_run: str, text: str = "no broker answered", cluster: str = "prod") -> None:
    record_failure(connection, TaskFailure(cluster, f"advise_{cluster}", "replay_and_plan", dag_run, text))


def rows(connection, view: str) -> list[dict[str, object]]:
    with connection.transaction(), connection.cursor(row_factory=dict_row) as cursor:
        cursor.execute("SET LOCAL ROLE advisor_reader")
        return cursor.execute(f"SELECT * FROM advisor.{view} ORDER BY 1, 2").fetchall()


def states(connection) -> dict[object, object]:
    return {row["run_id"]: row["state"] for row in rows(connection, "run_attempt")}


def test_every_attempt_is_seen_with_what_became_of_it(connection, snapshot_id) -> None:
    publish(connection, "a.prod", snapshot_id)
    for run_id in ("b.prod", "c.prod", "d.prod", "e.prod"):
        start(connection, run_id, snapshot_id)
    store.block_run(connection, "b.prod")
    fail(connection, "c")
    connection.execute("UPDATE store.run SET attempted_at = now() - interval '7 hours' WHERE run_id = 'd.prod'")
    assert states(connection) == {
        "a.prod": "published", "b.prod": "refused", "c.prod": "failed", "d.prod": "given_up", "e.prod": "running",
    }  # fmt: skip
    assert [row["run_id"] for row in rows(connection, "run")] == ["a.prod"]  # readers of advisories see no other
    failed = next(row for row in rows(connection, "run_attempt") if row["state"] == "failed")
    assert (failed["failed_task"], failed["failure"]) == ("replay_and_plan", "no broker answered")
    assert failed["duration_seconds"] >= 0


def test_a_failure_counts_until_somebody_tries_again(connection, snapshot_id) -> None:
    start(connection, "a.prod", snapshot_id)
    fail(connection, "a")
    assert states(connection) == {"a.prod": "failed"}
    start(connection, "a.prod", snapshot_id)
    assert states(connection) == {"a.prod": "running"}
    publish(connection, "a.prod", snapshot_id)
    assert states(connection) == {"a.prod": "published"}
    (attempt,) = rows(connection, "run_attempt")
    assert attempt["failure"] is None
    assert 0 <= attempt["duration_seconds"] < 3600


def test_health_is_one_line_a_cluster(connection, snapshot_id) -> None:
    publish(connection, "a.prod", snapshot_id)
    start(connection, "b.prod", snapshot_id)
    fail(connection, "b")
    fail(connection, "x", "TLS handshake failed", cluster="never-read")
    never, prod = sorted(rows(connection, "advisor_health"), key=lambda row: str(row["cluster"]))
    assert (prod["last_run_id"], prod["last_run_state"]) == ("b.prod", "failed")
    assert (prod["published_7d"], prod["unpublished_7d"], prod["failures_7d"]) == (1, 1, 1)
    assert (prod["last_failure"], prod["refused_snapshots_7d"]) == ("no broker answered", 0)
    assert 3600 <= prod["snapshot_age_seconds"] < 7200  # it was read an hour ago
    assert 0 <= prod["published_age_seconds"] < 3600
    assert 0 <= prod["published_duration_seconds"] < 3600
    assert (never["cluster"], never["last_failure"]) == ("never-read", "TLS handshake failed")
    assert (never["last_snapshot_at"], never["last_run_state"], never["published_7d"]) == (None, None, 0)
    assert never["last_activity_at"] is not None


def test_a_refused_reading_is_counted_and_is_no_reading(connection) -> None:
    refused = store.save_snapshot(connection, plain_snapshot(captured_at=datetime.now(UTC).isoformat()))
    store.mark_snapshot(connection, refused, is_blocked=True)
    (line,) = rows(connection, "advisor_health")
    assert (line["refused_snapshots_7d"], line["last_snapshot_at"]) == (1, None)


def test_words_of_a_failure_are_cut_and_hide_nothing(connection) -> None:
    fail(connection, "a", "line\nbreak\x1b[31m" + "x" * 5_000)
    (failure,) = rows(connection, "task_failure")
    assert len(failure["message"]) == 2_000
    assert "\n" not in failure["message"]
    assert "\x1b" not in failure["message"]


def test_failures_are_pruned_with_advisories(connection) -> None:
    fail(connection, "a")
    connection.execute("UPDATE store.task_failure SET failed_at = now() - interval '40 days'")
    fail(connection, "b")
    store.prune(connection, keep_snapshots_days=14, keep_runs_days=28, now=datetime.now(UTC))
    assert [row["dag_run"] for row in rows(connection, "task_failure")] == ["b"]


def test_the_errors_of_a_reading_leave_no_levels_behind(connection, monkeypatch) -> None:
    """Levels are part of the one transaction that saves a reading."""

    def refuse(snapshot) -> None:
        raise InvalidInputError("no levels")

    monkeypatch.setattr("kafka_rebalance.scoring.snapshot_scores.score_cluster", refuse)
    with pytest.raises(InvalidInputError, match="no levels"):
        store.save_snapshot(connection, plain_snapshot())
    assert connection.execute("SELECT count(*) FROM store.snapshot").fetchone() == (0,)
