"""Migrations go forward, once, whole, one at a time; ``sql/schema.sql`` holds the result; roles may exist before."""

from __future__ import annotations

import random
import re
import threading
import time
from dataclasses import replace

import psycopg
import pytest
from psycopg import sql

from kafka_rebalance.plans.plan import Verdict
from rebalance_advisor import store
from rebalance_advisor.store.schema import migrate as runner
from rebalance_advisor.store.schema.migrate import Migration, migrate, read_migrations, read_views
from stack.postgres.dump_schema import SCHEMA_FILE, dump
from stack.waiting import PATIENCE_S, wait_for
from tests.sql.conftest import with_database
from tests.sql.sample_clusters import finding, plain_snapshot, small_plan

pytestmark = pytest.mark.stack
WAITING = """SELECT count(*) FROM pg_locks
    WHERE NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"""


def test_the_migrations_make_what_schema_sql_says(server, dsn) -> None:
    assert dump(server, dsn) == SCHEMA_FILE.read_text(), "run: python -m stack.postgres.dump_schema"


def test_a_second_run_changes_nothing(connection) -> None:
    before = connection.execute("SELECT version, applied_at FROM store.migration ORDER BY version").fetchall()
    assert migrate(connection) == ()
    assert connection.execute("SELECT version, applied_at FROM store.migration ORDER BY version").fetchall() == before


def test_every_verdict_of_a_plan_may_be_saved_and_no_other(connection) -> None:
    query = "SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conname = 'plan_verdict_known'"
    ((definition,),) = connection.execute(query).fetchall()
    assert set(re.findall(r"'(\w+)'::text", definition)) == {verdict.value for verdict in Verdict}


def test_two_at_once_apply_everything_exactly_once(empty_dsn) -> None:
    applied: list[tuple[str, ...]] = []

    def run() -> None:
        with store.connect(empty_dsn) as connection:
            applied.append(migrate(connection))

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(map(len, applied)) == [0, len(read_migrations())]


def test_a_changed_migration_is_refused_by_name(connection, monkeypatch) -> None:
    first, *others = read_migrations()
    changed = (replace(first, text=first.text + "-- later thought\n"), *others)
    monkeypatch.setattr(runner, "read_migrations", lambda: changed)
    with pytest.raises(store.StoreError, match="0001_pre_create_schema has changed since it was applied"):
        migrate(connection)


def test_a_database_that_is_ahead_is_refused(connection) -> None:
    connection.execute("INSERT INTO store.migration (version, name, checksum) VALUES (9999, 'x', 'y')")
    with pytest.raises(store.StoreError, match="has migration 9999"):
        migrate(connection)


def test_a_migration_that_fails_leaves_nothing(empty_dsn, monkeypatch) -> None:
    whole = read_migrations()
    broken = (*whole, Migration(len(whole) + 1, "9_pre_break", "CREATE TABLE store.extra (); SELECT 1 / 0"))
    monkeypatch.setattr(runner, "read_migrations", lambda: broken)
    with store.connect(empty_dsn) as connection:
        with pytest.raises(psycopg.errors.DivisionByZero):
            migrate(connection)
        assert connection.execute("SELECT to_regnamespace('store')").fetchone() == (None,)


def test_a_column_that_views_read_may_change_its_type(connection, monkeypatch) -> None:
    whole = read_migrations()
    wider = "ALTER TABLE store.broker ALTER COLUMN broker TYPE bigint"
    monkeypatch.setattr(runner, "read_migrations", lambda: (*whole, Migration(len(whole) + 1, "9_pre_w", wider)))
    migrate(connection)
    types = "SELECT data_type FROM information_schema.columns WHERE (table_schema, table_name, column_name) = "
    for schema in ("store", "advisor"):
        row = connection.execute(types + "(%s, 'broker', 'broker')", (schema,)).fetchone()
        assert row == ("bigint",)
    with connection.transaction():
        connection.execute("SET LOCAL ROLE advisor_reader")
        connection.execute("SELECT broker FROM advisor.broker_latest")


def test_a_view_that_changes_its_columns_is_rebuilt_and_one_without_a_file_goes(connection) -> None:
    connection.execute("DROP VIEW advisor.quarantine_latest")
    connection.execute("CREATE VIEW advisor.quarantine_latest AS SELECT 1 AS another")
    connection.execute("CREATE VIEW advisor.forgotten AS SELECT 1 AS one")
    for name in ("quarantine_latest", "forgotten"):
        connection.execute(sql.SQL("ALTER VIEW advisor.{} OWNER TO advisor_owner").format(sql.Identifier(name)))
    migrate(connection)
    connection.execute("SELECT subject FROM advisor.quarantine_latest")
    assert connection.execute("SELECT to_regclass('advisor.forgotten')").fetchone() == (None,)
    with connection.transaction():
        connection.execute("SET LOCAL ROLE advisor_reader")
        connection.execute("SELECT subject FROM advisor.quarantine_latest")


def test_somebody_elses_view_in_the_way_is_named_and_kept(connection) -> None:
    connection.execute("DROP VIEW advisor.quarantine_latest")
    connection.execute("CREATE VIEW advisor.quarantine_latest AS SELECT 1 AS another")
    connection.execute("ALTER VIEW advisor.quarantine_latest OWNER TO advisor_owner")
    connection.execute("CREATE VIEW public.ours AS SELECT another FROM advisor.quarantine_latest")
    with pytest.raises(
        store.StoreError, match=r"another object reads them: view ours depends on view (advisor\.)?quarantine_latest"
    ):
        migrate(connection)
    assert connection.execute("SELECT another FROM public.ours").fetchone() == (1,)


def test_without_the_right_to_create_roles_the_message_says_what_to_ask_for(admin, empty_dsn) -> None:
    with psycopg.connect(admin, autocommit=True) as connection:
        connection.execute(
            "DO $$ BEGIN CREATE ROLE ordinary LOGIN PASSWORD 'p'; EXCEPTION WHEN duplicate_object THEN NULL; END $$"
        )
    name = empty_dsn.rpartition("/")[2]
    host = admin.partition("@")[2]
    asks = pytest.raises(store.StoreError, match="let an administrator create roles advisor_owner")
    with store.connect(with_database(f"postgresql://ordinary:p@{host}", name)) as connection, asks:
        migrate(connection)


def test_the_writer_can_do_the_pipelines_whole_work(connection, dsn) -> None:
    """As a login that is a member of the writer role and of nothing else."""
    connection.execute(
        "DO $$ BEGIN CREATE ROLE etl LOGIN PASSWORD 'p'; EXCEPTION WHEN duplicate_object THEN NULL; END $$"
    )
    connection.execute("GRANT advisor_writer TO etl")
    host = dsn.partition("@")[2]
    with store.connect(f"postgresql://etl:p@{host}") as writer:
        snapshot_id = store.save_snapshot(writer, plain_snapshot(captured_at="2020-01-01T00:00:00Z"))
        store.mark_snapshot(writer, snapshot_id, is_blocked=False)
        store.start_run(writer, run_id="r", cluster="prod", snapshot_id=snapshot_id)
        store.save_findings(writer, "r", [finding()])
        store.save_plan(writer, "r", small_plan(snapshot_id))
        store.publish_run(writer, "r")
        assert store.newest_published(writer, "prod") == "r"
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            writer.execute("DELETE FROM store.migration")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            writer.execute("DROP TABLE store.run")


def test_a_reader_beside_a_long_run_and_a_migration_never_waits_for_either(dsn) -> None:
    """A run holds a table until a migration has waited for it and a reader of the same view has had 20 answers since.

    A migration that kept its place in the queue of locks would let the reader wait until the run has ended.
    """
    answers, changed = [], []
    is_done, is_running, may_end = threading.Event(), threading.Event(), threading.Event()

    def read() -> None:
        with store.connect(dsn) as reader:
            while not is_done.is_set():
                answers.append(reader.execute("SELECT count(*) FROM advisor.skew_by_day").fetchone())

    def run() -> None:
        with store.connect(dsn) as writer, writer.transaction():
            writer.execute("LOCK TABLE store.snapshot IN ROW EXCLUSIVE MODE")
            writer.execute("SELECT count(*) FROM advisor.skew_by_day")
            is_running.set()
            may_end.wait(2 * PATIENCE_S)

    def change() -> None:
        with store.connect(dsn) as connection:
            changed.append(migrate(connection, pause_s=0.5))

    threads = [threading.Thread(target=read), threading.Thread(target=run)]
    for thread in threads:
        thread.start()
    try:
        assert is_running.wait(PATIENCE_S)
        threads.append(threading.Thread(target=change))
        threads[-1].start()
        with store.connect(dsn) as watcher:
            wait_for("the migration to wait for a lock", lambda: watcher.execute(WAITING).fetchone()[0], every_s=0.01)
        known = len(answers)
        wait_for("20 more answers", lambda: len(answers), until=lambda seen: seen >= known + 20)
        assert changed == []
    finally:
        may_end.set()
        threads[-1].join()
        is_done.set()
        for thread in threads:
            thread.join()
    assert changed == [()]


def test_readers_who_lock_views_in_any_order_are_never_ended_for_a_migration(dsn) -> None:
    """The server ends one of two that wait for each other: here whoever reads three views at a time, in any order.

    Each rests half a second at most between two of these: readers who never do would leave no moment for a migration.
    """
    views = [name for name in read_views() if name.startswith("advisor.")]
    faults: list[str] = []
    is_done = threading.Event()

    def read(seed: int) -> None:
        draw = random.Random(seed)
        with store.connect(dsn) as reader:
            while not is_done.is_set():
                chosen = draw.sample(views, 3)
                try:
                    with reader.transaction():
                        for view in chosen:
                            reader.execute(f"SELECT count(*) FROM (SELECT * FROM {view} LIMIT 1) AS looked_at")
                            time.sleep(draw.random() * 0.05)
                except psycopg.Error as error:
                    faults.append(f"{chosen}: {error}")
                time.sleep(draw.random() * 0.5)

    readers = [threading.Thread(target=read, args=(seed,)) for seed in range(3)]
    for reader in readers:
        reader.start()
    try:  # readers that went on after a failure would note the faults of a database that is gone, without end
        with store.connect(dsn) as connection:
            for _ in range(3):
                migrate(connection, pause_s=0.1)
    finally:
        is_done.set()
        for reader in readers:
            reader.join()
    assert faults == []


def test_a_database_that_is_always_in_use_is_left_as_it_is_and_it_is_told_by_whom(dsn) -> None:
    with store.connect(dsn) as user, user.transaction(), store.connect(dsn) as connection:
        user.execute("SELECT count(*) FROM advisor.skew_by_day")
        text = rf"no lock on the database within 1 seconds: .*pid {user.info.backend_pid} \(rebalance-advisor\) since"
        with pytest.raises(store.StoreError, match=text):
            migrate(connection, pause_s=0.2, give_up_s=1)
        assert connection.execute("SELECT 1").fetchone() == (1,)
