"""Old readings are thinned to one a day and give their space back; questions are answered as before."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import psycopg
import pytest
from psycopg.rows import dict_row

from kafka_rebalance.snapshot import codec
from rebalance_advisor import store
from rebalance_advisor.store import snapshot_load
from rebalance_advisor.store.prune import READING_TABLES, WHOLE_DAYS, Weeks, mark_thinned, sweep
from rebalance_advisor.store.run import RESULT_TABLES
from tests.sql.conftest import copied_database
from tests.sql.sample_clusters import finding, plain_snapshot, small_plan

pytestmark = pytest.mark.stack

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)  # a Friday; whole from Monday the 9th on
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
# Of every reading: that there are fewer is what thinning is. (snapshot: its lines stay, is_pruned is another.)
OF_EVERY_READING = {
    "broker", "broker_level", "consumer_group", "coverage", "load", "load_source", "log_dir", "partition",
    "resource_skew", "snapshot", "topic",
}  # fmt: skip


def read(connection, at: datetime, cluster: str = "prod", **changes) -> str:
    snapshot = plain_snapshot(captured_at=at.isoformat(), cluster=cluster, **changes)
    snapshot_id = store.save_snapshot(connection, snapshot)
    store.mark_snapshot(connection, snapshot_id, is_blocked=False)
    return snapshot_id


def start(connection, snapshot_id: str, run_id: str = "r") -> None:
    store.start_run(connection, run_id=run_id, cluster="prod", snapshot_id=snapshot_id)


def advise(connection, snapshot_id: str, run_id: str) -> None:
    start(connection, snapshot_id, run_id)
    store.save_findings(connection, run_id, [finding()])
    store.save_plan(connection, run_id, small_plan(snapshot_id))
    store.publish_run(connection, run_id)


def prune(connection, **days: int) -> store.Pruned:
    kept = {"keep_snapshots_days": 90, "keep_runs_days": 400} | days
    return store.prune(connection, **kept, now=NOW)


def whole(connection) -> list[datetime]:
    """Moments of the readings that have their rows."""
    stored = connection.execute(
        "SELECT captured_at FROM store.snapshot WHERE NOT is_pruned ORDER BY captured_at"
    ).fetchall()
    rows = connection.execute("SELECT DISTINCT captured_at FROM store.partition ORDER BY captured_at").fetchall()
    assert rows == stored
    return [time for (time,) in stored]


def test_the_last_reading_of_each_day_stays_and_the_last_days_stay_whole(connection) -> None:
    hours = [NOW - step * 8 * HOUR for step in range(3 * 20)]
    for at in hours:
        read(connection, at)
    pruned = prune(connection)
    monday = datetime(2026, 11, 9, tzinfo=UTC)
    last_of_day = {max(hour for hour in hours if hour.date() == at.date()) for at in hours}
    assert whole(connection) == sorted(at for at in hours if at >= monday or at in last_of_day)
    assert (pruned.snapshots, pruned.thinned) == (0, len(hours) - len(whole(connection)))
    assert pruned.swept > 0
    assert prune(connection) == store.Pruned(0, 0, 0), "a second time changes nothing"
    lines = connection.execute("SELECT count(*), count(*) FILTER (WHERE is_pruned) FROM advisor.snapshot").fetchone()
    assert lines == (len(hours), pruned.thinned), "their lines stay"


def test_days_count_from_each_cluster_s_own_newest_reading(connection) -> None:
    for cluster, newest in (("prod", NOW), ("asleep", NOW - 30 * DAY)):
        for step in range(2 * 20):
            read(connection, newest - step * 12 * HOUR, cluster)
    prune(connection)
    query = "SELECT count(*) FROM store.snapshot WHERE NOT is_pruned AND cluster = %s AND captured_at > %s"
    for cluster, newest in (("prod", NOW), ("asleep", NOW - 30 * DAY)):
        assert connection.execute(query, (cluster, newest - WHOLE_DAYS * DAY)).fetchone() == (14,)


def test_readings_that_did_not_pass_are_not_the_last_of_their_day(connection) -> None:
    old = NOW - 20 * DAY
    passed = read(connection, old)
    refused = store.save_snapshot(connection, plain_snapshot(captured_at=(old + HOUR).isoformat()))
    store.mark_snapshot(connection, refused, is_blocked=True)
    read(connection, NOW)
    assert prune(connection).thinned == 1
    assert len(store.load_snapshot(connection, passed).partitions) == 6


@pytest.fixture
def history(ninety_days: str, admin: str) -> Iterator[str]:
    """The simulated 90 days, in a database of the test's own."""
    with copied_database(admin, "ninety_days") as dsn:
        yield dsn


def answers(connection) -> dict[str, list[str]]:
    """All rows of all views that answer questions, as texts; ages count from the clock."""
    names = connection.execute("SELECT viewname FROM pg_views WHERE schemaname = 'advisor'").fetchall()
    results = {}
    with connection.cursor(row_factory=dict_row) as cursor:
        for (view,) in names:
            if view not in OF_EVERY_READING:
                rows = cursor.execute(f"SELECT * FROM advisor.{view}").fetchall()
                results[view] = sorted(
                    str({k: v for k, v in row.items() if not k.endswith("age_seconds")}) for row in rows
                )
    return results


def size(connection) -> int:
    """Bytes of the placement, the largest table."""
    query = (
        "SELECT sum(pg_total_relation_size(to_regclass('store.' || table_name))) FROM store.weeks()"
        " WHERE parent = 'partition'"
    )
    return int(connection.execute(query).fetchone()[0])


def test_every_question_is_answered_as_before_and_the_space_is_given_back(history: str) -> None:
    with store.connect(history) as connection:
        before, bytes_before = answers(connection), size(connection)
        thinned = mark_thinned(connection, datetime.now(UTC), WHOLE_DAYS)
        # Two readings a day of two clusters: of 76 to 83 days one each, but for those of runs that never ended.
        assert 2 * 60 <= thinned <= 2 * 84
        assert sweep(connection).done > 0
        assert answers(connection) == before
        assert size(connection) < 0.75 * bytes_before


def test_hourly_loads_of_a_window_stay_exact(connection) -> None:
    for step in range(48):
        read(connection, NOW - 20 * DAY - step * HOUR)
    read(connection, NOW)
    asked = ("prod", NOW - 20 * DAY, 48)
    before = [(reading.until, str(reading.columns)) for reading in store.load_readings(connection, *asked)]
    assert prune(connection).thinned == 45
    assert [(reading.until, str(reading.columns)) for reading in store.load_readings(connection, *asked)] == before


def test_an_interruption_anywhere_is_made_up_for(connection) -> None:
    """Killed after marking, or between two tables: views and loading already know; the next time ends it."""
    ids = [read(connection, NOW - 20 * DAY + step * HOUR) for step in range(3)]
    read(connection, NOW)
    assert mark_thinned(connection, NOW, WHOLE_DAYS) == 2
    assert connection.execute("SELECT count(DISTINCT captured_at) FROM store.load").fetchone() == (4,), (
        "the rows are there"
    )
    assert connection.execute("SELECT count(DISTINCT captured_at) FROM advisor.load").fetchone() == (2,)
    with pytest.raises(store.StoreError, match="were removed by retention"):
        store.load_snapshot(connection, ids[0])
    connection.execute("SELECT store.sweep_week('partition_2026w44')")
    assert connection.execute("SELECT count(DISTINCT captured_at) FROM store.partition").fetchone() == (2,)
    pruned = prune(connection)
    assert (pruned.thinned, pruned.swept) == (0, sum(has_rows(connection, table) for table in READING_TABLES) - 1)
    for table in READING_TABLES:
        assert connection.execute(f"SELECT count(DISTINCT captured_at) FROM store.{table}").fetchone()[0] in (0, 2), (
            table
        )
    assert codec.snapshot_id(store.load_snapshot(connection, ids[2])) == ids[2]


def has_rows(connection, table: str) -> bool:
    return bool(connection.execute(f"SELECT EXISTS (SELECT FROM store.{table})").fetchone()[0])


def test_a_thinned_reading_may_be_saved_again_with_what_an_advisory_left_of_it(connection) -> None:
    old = NOW - 20 * DAY
    first = read(connection, old)
    advise(connection, first, "old")
    advise(connection, read(connection, NOW), "new")
    read(connection, old + HOUR)
    assert prune(connection).thinned == 1
    groups = "SELECT count(*) FROM store.consumer_group WHERE captured_at = %s"
    assert connection.execute(groups, (old,)).fetchone() == (1,), "the advisory tells the type of its groups"
    assert connection.execute(
        "SELECT count(*) FROM advisor.consumer_group WHERE captured_at = %s", (old,)
    ).fetchone() == (0,)
    assert connection.execute("SELECT count(*) FROM advisor.load_source WHERE captured_at = %s", (old,)).fetchone() > (
        0,
    )
    assert read(connection, old) == first
    assert codec.snapshot_id(store.load_snapshot(connection, first)) == first
    assert connection.execute(groups, (old,)).fetchone() == (1,)


def test_a_reading_that_is_pruned_while_it_is_loaded_is_refused_and_not_half(connection, dsn, monkeypatch) -> None:
    old = read(connection, NOW - 20 * DAY)
    for at in (NOW - 20 * DAY + HOUR, NOW):
        read(connection, at)
    partitions = snapshot_load._partitions

    def late(*arguments):
        with store.connect(dsn) as other:
            mark_thinned(other, NOW, WHOLE_DAYS)
            # What sweeping needs is locked by the loading; rows that are gone are what it would see.
            monkeypatch.undo()
        return partitions(*arguments)

    monkeypatch.setattr(snapshot_load, "_partitions", late)
    with pytest.raises(store.StoreError, match="were removed by retention"):
        store.load_snapshot(connection, old)


@pytest.mark.parametrize("is_first", [True, False])
def test_a_run_is_started_on_a_whole_reading_or_refused(connection, dsn, is_first: bool) -> None:
    """Whoever comes first, the other waits for it: started, then kept; marked, then refused."""
    old = read(connection, NOW - 20 * DAY)
    for at in (NOW - 20 * DAY + HOUR, NOW):
        read(connection, at)
    outcome: list[object] = []

    def other() -> None:
        with store.connect(dsn) as second:
            try:
                outcome.append(mark_thinned(second, NOW, WHOLE_DAYS) if is_first else start(second, old))
            except store.StoreError as error:
                outcome.append(str(error))

    thread = threading.Thread(target=other)
    with connection.transaction():
        if is_first:
            start(connection, old)
        else:
            assert mark_thinned(connection, NOW, WHOLE_DAYS) == 1
        thread.start()
        thread.join(0.3)
        assert outcome == [], "it waits"
    thread.join()
    if is_first:
        assert outcome == [0]
        assert len(store.load_snapshot(connection, old).partitions) == 6
    else:
        assert "was pruned" in str(outcome[0])


def test_what_is_under_way_keeps_its_reading(connection) -> None:
    ids = [read(connection, NOW - 20 * DAY + step * HOUR) for step in range(4)]
    newest = read(connection, NOW)
    start(connection, ids[0], "at-work")
    advise(connection, ids[1], "asked")
    advise(connection, newest, "newest")
    connection.execute(
        "INSERT INTO store.application (application_id, run_key, state, move_count)"
        " SELECT 'a', run_key, 'asked', 0 FROM store.run WHERE run_id = 'asked'"
    )
    assert prune(connection).thinned == 1
    for snapshot_id in (ids[0], ids[1], ids[3], newest):
        assert codec.snapshot_id(store.load_snapshot(connection, snapshot_id)) == snapshot_id


def test_a_table_in_use_is_named_all_others_are_done_and_the_next_time_ends_it(connection, dsn) -> None:
    for step in range(3):
        read(connection, NOW - 20 * DAY + step * HOUR)
    read(connection, NOW)
    connection.execute("ALTER FUNCTION store.sweep_week SET lock_timeout = '2s'")
    with store.connect(dsn) as reader, reader.transaction():
        reader.execute("SELECT count(*) FROM advisor.topic")
        with pytest.raises(store.StoreError, match=r"1 weekly tables were in use .* topic_2026w44; the next prune"):
            prune(connection)
    assert connection.execute("SELECT count(DISTINCT captured_at) FROM store.partition").fetchone() == (2,)
    assert prune(connection).swept == 1
    assert connection.execute("SELECT count(DISTINCT captured_at) FROM store.topic").fetchone() == (2,)


def test_a_week_in_use_is_not_waited_for_and_is_dropped_the_next_time(connection, dsn) -> None:
    """A dump that runs for hours does not make everybody else wait behind the pruning."""
    old, _ = read(connection, NOW - 200 * DAY), read(connection, NOW)
    connection.execute("ALTER FUNCTION store.drop_week SET lock_timeout = '2s'")
    with store.connect(dsn) as reader, reader.transaction():
        reader.execute("SELECT count(*) FROM advisor.topic")
        with pytest.raises(store.StoreError, match=r"1 weekly tables were in use .* topic_2026w19; the next prune"):
            prune(connection)
        assert reader.execute("SELECT count(*) FROM advisor.topic WHERE captured_at < %s", (NOW,)).fetchone() == (0,)
    names = "SELECT table_name FROM store.weeks() WHERE parent = ANY (%s) AND week_start < %s"
    assert connection.execute(names, (list(READING_TABLES), NOW - 14 * DAY)).fetchall() == [("topic_2026w19",)]
    assert prune(connection).weeks == 1
    assert connection.execute("SELECT count(*) FROM store.snapshot WHERE snapshot_id = %s", (old,)).fetchone() == (0,)


def test_a_week_into_which_somebody_saves_meanwhile_stays(connection, dsn) -> None:
    """An old dump, saved between the look at what is kept and the dropping, which waits for the saver."""
    read(connection, NOW)
    old = plain_snapshot(captured_at=(NOW - 200 * DAY).isoformat(), cluster="old")
    connection.execute("SELECT store.ensure_week(%s)", (NOW - 200 * DAY,))
    dropping = threading.Thread(target=execute, args=(dsn, "SELECT store.drop_week('topic_2026w19')"))
    with store.connect(dsn) as other, other.transaction():
        snapshot_id = store.save_snapshot(other, old)
        dropping.start()
        dropping.join(0.3)
        assert dropping.is_alive()
    dropping.join()
    assert codec.snapshot_id(store.load_snapshot(connection, snapshot_id)) == snapshot_id


def execute(dsn: str, query: str) -> None:
    with store.connect(dsn) as connection:
        connection.execute(query)


def test_readings_are_saved_and_loaded_while_weeks_are_swept(connection, dsn) -> None:
    """Old ones into the weeks that are being written anew, too: nothing is lost, nobody waits for ever."""
    for step in range(60):
        read(connection, NOW - 30 * DAY + step * 6 * HOUR)
    saved: list[str] = []

    def save(first: datetime, step: timedelta) -> None:
        with store.connect(dsn) as other:
            for number in range(10):
                snapshot = plain_snapshot(captured_at=(first + number * step).isoformat())
                snapshot_id = store.save_snapshot(other, replace(snapshot, source=f"of {first}"))
                assert codec.snapshot_id(store.load_snapshot(other, snapshot_id)) == snapshot_id
                saved.append(snapshot_id)

    savers = [
        threading.Thread(target=save, args=(NOW, HOUR)),
        # The last of their days, and of days that have no other: they stay.
        threading.Thread(target=save, args=(NOW - 60 * DAY, DAY)),
    ]
    for saver in savers:
        saver.start()
    prune(connection)
    for saver in savers:
        saver.join()
    assert len(saved) == 20
    for snapshot_id in saved[:3] + saved[-3:]:
        assert codec.snapshot_id(store.load_snapshot(connection, snapshot_id)) == snapshot_id


def test_nobody_waits_for_a_new_week(connection, dsn) -> None:
    read(connection, NOW)
    with store.connect(dsn) as other, other.transaction():
        other.execute("SELECT count(*) FROM advisor.topic")
        store.save_snapshot(other, plain_snapshot(captured_at=(NOW + HOUR).isoformat()))
        connection.execute("SET lock_timeout = '1s'")
        connection.execute("SELECT store.ensure_week(%s)", (NOW + 7 * DAY,))
    made = connection.execute("SELECT count(*) FROM store.weeks() WHERE week_start > %s", (NOW,)).fetchone()
    assert made == connection.execute("SELECT count(DISTINCT parent) FROM store.weeks()").fetchone()


def test_every_table_that_grows_is_of_readings_of_runs_or_of_hourly_loads(connection) -> None:
    read(connection, NOW)
    parents = {name for (name,) in connection.execute("SELECT DISTINCT parent FROM store.weeks()").fetchall()}
    assert parents - set(RESULT_TABLES) - {"load_history"} == set(READING_TABLES)


@pytest.mark.parametrize("name", ["run", "load_history_2026w47", "move_2026w47", "partition"])
def test_only_weeks_of_readings_are_swept(connection, name: str) -> None:
    read(connection, NOW)
    with pytest.raises(psycopg.errors.RaiseException, match=f"{name} is no week of a table of readings"):
        connection.execute("SELECT store.sweep_week(%s)", (name,))


def test_less_than_a_day_whole_is_refused(connection) -> None:
    with pytest.raises(store.StoreError, match="keep_whole_days = 0: keep one day at least"):
        prune(connection, keep_whole_days=0)


def test_sweeping_without_leavings_does_nothing(connection) -> None:
    read(connection, NOW - 20 * DAY)
    read(connection, NOW)
    assert sweep(connection) == Weeks(0)
