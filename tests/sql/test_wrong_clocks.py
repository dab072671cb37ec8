"""A clock that was wrong once: no reading of it is ever the newest, no age is negative, and nothing is pruned by it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from rebalance_advisor import gates, store
from tests.sql.sample_clusters import plain_snapshot, small_plan
from tests.sql.test_airflow_tasks import listed

__all__ = ["listed"]
pytestmark = pytest.mark.stack
DAY = timedelta(days=1)


def now() -> datetime:
    return datetime.now(UTC)


def read(connection, at: datetime) -> str:
    return store.save_snapshot(connection, plain_snapshot(captured_at=at.isoformat()))


def passed(connection, at: datetime) -> str:
    """Marked as passed whatever the gate would say: Postgres' own clock may have been ahead, too."""
    snapshot_id = read(connection, at)
    store.mark_snapshot(connection, snapshot_id, is_blocked=False)
    return snapshot_id


def published(connection, snapshot_id: str, run_id: str) -> None:
    store.start_run(connection, run_id=run_id, cluster="prod", snapshot_id=snapshot_id)
    store.save_plan(connection, run_id, small_plan(snapshot_id))
    store.publish_run(connection, run_id)


def test_the_gate_blocks_a_reading_ahead_of_the_store_and_says_what_to_do(connection, dsn) -> None:
    ahead, ours = read(connection, now() + 400 * DAY), read(connection, now() + timedelta(minutes=3))
    result = gates.check_input(dsn, ahead)
    assert result.is_blocked
    (check,) = [check for check in result.checks if not check.is_passed]
    assert (check.rule, check.level) == ("clock_ahead", "block")
    assert "set the clock of the machine that read the cluster right" in str(result)
    assert not gates.check_input(dsn, ours).is_blocked
    assert store.latest_snapshot_id(connection, "prod") == ours


@pytest.mark.parametrize("is_postgres_ahead", [False, True])
def test_a_snapshot_ahead_that_passed_is_never_the_newest(connection, is_postgres_ahead: bool) -> None:
    """``stored_at`` is Postgres' clock when the reading came: it may have been wrong, too."""
    right = passed(connection, now() - timedelta(minutes=10))
    ahead = passed(connection, now() + 400 * DAY)
    staged = read(connection, now() + 401 * DAY)
    if is_postgres_ahead:
        connection.execute("UPDATE store.snapshot SET stored_at = captured_at WHERE captured_at > now()")
    published(connection, right, "r")
    assert store.latest_snapshot_id(connection, "prod") == right
    assert connection.execute("SELECT snapshot_id FROM advisor.snapshot_latest").fetchall() == [(right,)]
    seconds = connection.execute("SELECT snapshot_age_seconds FROM advisor.advisor_health").fetchone()[0]
    assert 599 < seconds < 10_000
    assert connection.execute("SELECT age_seconds > 599 FROM advisor.cluster_latest").fetchone() == (True,)
    assert {ahead, staged, right} == {
        name for (name,) in connection.execute("SELECT snapshot_id FROM store.snapshot").fetchall()
    }


def test_a_reading_ahead_is_not_the_newest_when_its_time_has_come(connection) -> None:
    right = passed(connection, now() - 2 * DAY)
    passed(connection, now() - DAY)
    connection.execute(
        "UPDATE store.snapshot SET stored_at = now() - interval '400 days' WHERE captured_at > now() - interval '36 h'"
    )
    assert store.latest_snapshot_id(connection, "prod") == right
    assert connection.execute("SELECT snapshot_id FROM advisor.snapshot_latest").fetchall() == [(right,)]


def test_a_run_that_began_when_postgres_was_ahead_is_not_the_newest(connection) -> None:
    snapshot_id = passed(connection, now())
    for run_id in ("ahead", "right"):
        published(connection, snapshot_id, run_id)
    connection.execute("UPDATE store.run SET started_at = now() + interval '400 days' WHERE run_id = 'ahead'")
    assert store.newest_published(connection, "prod") == "right"
    for view in ("run_latest", "cluster_latest"):
        assert connection.execute(f"SELECT run_id FROM advisor.{view}").fetchall() == [("right",)]
    assert connection.execute("SELECT last_run_id FROM advisor.advisor_health").fetchone() == ("right",)


def test_no_age_is_negative_where_clocks_differ_by_little(connection) -> None:
    published(connection, passed(connection, now() + timedelta(minutes=3)), "r")
    for view, column in (("advisor_health", "snapshot_age_seconds"), ("cluster_latest", "age_seconds")):
        assert connection.execute(f"SELECT {column} FROM advisor.{view}").fetchone() == (0.0,)


def test_rates_are_measured_since_the_last_reading_before(connection) -> None:
    """A cluster whose time goes back for a moment is compared with what was read before, not with what comes later."""
    moment = now() - timedelta(hours=1)
    ids = [passed(connection, moment + timedelta(minutes=m)) for m in (0, 10, 20)]
    before = moment + timedelta(minutes=15)
    assert store.latest_snapshot_id(connection, "prod", before) == ids[1]
    assert store.latest_snapshot_id(connection, "prod", moment) is None


@pytest.mark.parametrize("days", [800, -800])
def test_nothing_is_pruned_where_the_workers_clock_and_postgres_disagree(
    listed, connection, monkeypatch, days: int
) -> None:
    from airflow.sdk.exceptions import AirflowFailException

    from rebalance_advisor.airflow import tasks

    ids = [passed(connection, now() - age * DAY) for age in range(0, 75, 5)]

    class Wrong(datetime):
        @classmethod
        def now(cls, tz=None):
            return datetime.now(tz) + days * DAY

    monkeypatch.setattr("datetime.datetime", Wrong)
    form = {"keep_whole_days": 7, "keep_snapshots_days": 90, "keep_runs_days": 400}
    with pytest.raises(AirflowFailException, match=r"more than 5 min apart: nothing was removed"):
        tasks.prune.function(params=form)
    monkeypatch.undo()
    left = connection.execute("SELECT count(*) FROM store.snapshot WHERE NOT is_pruned").fetchone()
    assert left == (len(ids),)
