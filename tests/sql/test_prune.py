"""Retention removes whole weeks, and never what the last advisory of a cluster rests on."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from kafka_rebalance.snapshot import codec
from rebalance_advisor import store
from rebalance_advisor.store.prune import Pruned
from tests.sql.sample_clusters import finding, plain_snapshot, small_plan

pytestmark = pytest.mark.stack

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)


def read(connection, days_ago: int, cluster: str = "prod") -> str:
    at = (NOW - timedelta(days=days_ago)).isoformat()
    snapshot_id = store.save_snapshot(connection, plain_snapshot(captured_at=at, cluster=cluster))
    store.mark_snapshot(connection, snapshot_id, is_blocked=False)
    return snapshot_id


def advise(
    connection, run_id: str, snapshot_id: str, days_ago: int, *, is_published: bool = True, cluster="prod"
) -> None:
    """A run as if it had been made some days ago."""
    at = NOW - timedelta(days=days_ago)
    connection.execute("SELECT store.ensure_week(%s)", (at,))
    store.start_run(connection, run_id=run_id, cluster=cluster, snapshot_id=snapshot_id)
    connection.execute("UPDATE store.run SET started_at = %s WHERE run_id = %s", (at, run_id))
    store.save_findings(connection, run_id, [finding()])
    store.save_plan(connection, run_id, small_plan(snapshot_id))
    if is_published:
        store.publish_run(connection, run_id)


def prune(connection, keep_snapshots_days: int = 14, keep_runs_days: int = 28) -> Pruned:
    return store.prune(connection, keep_snapshots_days=keep_snapshots_days, keep_runs_days=keep_runs_days, now=NOW)


def count(connection, table: str) -> int:
    return connection.execute(f"SELECT count(*) FROM store.{table}").fetchone()[0]


def test_old_readings_go_with_their_weeks(connection) -> None:
    for days_ago in (60, 40, 13, 1):
        read(connection, days_ago)
    pruned = prune(connection)
    assert (pruned.snapshots, pruned.runs) == (2, 0)
    assert count(connection, "snapshot") == 2
    assert count(connection, "partition") == 12
    weeks = connection.execute("SELECT DISTINCT week_start FROM store.weeks()").fetchall()
    assert min(week for (week,) in weeks) >= NOW - timedelta(days=14 + 7)
    assert pruned.weeks > 0
    assert prune(connection) == Pruned(0, 0, 0)


def test_the_newest_reading_stays_however_old(connection) -> None:
    old = read(connection, 300)
    read(connection, 301)
    assert prune(connection).snapshots == 1
    assert store.latest_snapshot_id(connection, "prod") == old
    assert len(store.load_snapshot(connection, old).partitions) == 6


def test_the_last_advisory_and_its_reading_stay_however_old(connection) -> None:
    first, last = read(connection, 201), read(connection, 200)
    advise(connection, "first", first, 201)
    advise(connection, "last", last, 200)
    read(connection, 0)
    pruned = prune(connection)
    assert (pruned.snapshots, pruned.runs) == (1, 1)
    assert store.newest_published(connection, "prod") == "last"
    assert connection.execute("SELECT count(*) FROM advisor.move_latest").fetchone() == (2,)
    assert len(store.load_snapshot(connection, last).partitions) == 6
    with pytest.raises(store.StoreError, match="no snapshot"):
        store.load_snapshot(connection, first)


def test_a_reading_that_a_kept_run_rests_on_leaves_its_line(connection) -> None:
    read_then = read(connection, 25)
    advise(connection, "then", read_then, 25)
    advise(connection, "now", read(connection, 0), 0)
    assert prune(connection).snapshots == 1
    (shown,) = connection.execute("SELECT snapshot_id FROM advisor.run WHERE run_id = 'then'").fetchone()
    assert shown == read_then
    with pytest.raises(store.StoreError, match="were removed by retention"):
        store.load_snapshot(connection, read_then)
    assert read(connection, 25) == read_then, "the same reading may be saved again"
    assert codec.snapshot_id(store.load_snapshot(connection, read_then)) == read_then


def test_old_runs_go_with_all_their_rows(connection) -> None:
    snapshot_id = read(connection, 0)
    for days_ago in (90, 60, 1):
        advise(connection, f"r-{days_ago}", snapshot_id, days_ago)
    pruned = prune(connection)
    assert pruned.runs == 2
    for table, rows in {"run": 1, "finding": 1, "plan": 1, "move": 2, "wave": 4, "plan_broker": 3}.items():
        assert count(connection, table) == rows, table


def test_a_run_that_was_given_up_goes_and_one_that_runs_stays(connection) -> None:
    snapshot_id = read(connection, 100)
    read(connection, 0)
    advise(connection, "given-up", snapshot_id, 8, is_published=False)
    advise(connection, "at-work", snapshot_id, 1, is_published=False)
    assert prune(connection).runs == 1
    assert store.load_run(connection, "at-work").status == "running"
    assert len(store.load_snapshot(connection, snapshot_id).partitions) == 6
    with pytest.raises(store.StoreError, match="given-up"):
        store.load_run(connection, "given-up")


def test_each_cluster_is_looked_at_for_itself(connection) -> None:
    quiet = read(connection, 100, cluster="quiet")
    advise(connection, "quiet-1", quiet, 100, cluster="quiet")
    for days_ago in (100, 0):
        read(connection, days_ago)
    prune(connection)
    assert store.newest_published(connection, "quiet") == "quiet-1"
    assert len(store.load_snapshot(connection, quiet).partitions) == 6


def test_less_than_a_day_is_refused(connection) -> None:
    with pytest.raises(store.StoreError, match="keep_runs_days = 0: keep one day at least"):
        prune(connection, keep_runs_days=0)


@pytest.mark.parametrize(
    ("hour", "is_kept"), [("2026-11-02T00:00:00+00:00", True), ("2026-11-01T23:59:59+00:00", False)]
)
def test_what_is_kept_begins_with_a_monday(connection, hour, is_kept) -> None:
    """20 November 2026 is a Friday; 14 days before it is Friday the 6th, whose week began on Monday the 2nd."""
    snapshot_id = store.save_snapshot(connection, plain_snapshot(captured_at=hour))
    read(connection, 0)
    assert prune(connection).snapshots == (0 if is_kept else 1)
    row = connection.execute("SELECT count(*) FROM store.snapshot WHERE snapshot_id = %s", (snapshot_id,)).fetchone()
    assert row == (int(is_kept),)
