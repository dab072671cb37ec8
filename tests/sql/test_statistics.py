"""After a save the planner knows the rows: no query of ours depends on when autovacuum came by."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import psycopg
import pytest

from rebalance_advisor import store
from rebalance_advisor.store.statistics import FEWEST_ROWS
from tests.benchmarks.bench_store import FIRST, large_snapshot

pytestmark = pytest.mark.stack

PARTITIONS = 2_000


@pytest.fixture
def misled(connection: store.Connection) -> Iterator[store.Connection]:
    """Statistics from when the week held one small reading: the next is taken for a row or two."""
    connection.execute("ALTER SYSTEM SET autovacuum = off")
    connection.execute("SELECT pg_reload_conf()")
    store.save_snapshot(connection, large_snapshot(50, 1, FIRST - timedelta(hours=1)))
    connection.execute("ANALYZE")
    yield connection
    connection.execute("ALTER SYSTEM RESET autovacuum")
    connection.execute("SELECT pg_reload_conf()")


def estimated_rows(connection: store.Connection, table: str, snapshot_key: int) -> float:
    plan: Any = connection.execute(
        f"EXPLAIN (FORMAT JSON) SELECT FROM store.{table} WHERE snapshot_key = {snapshot_key}"
    ).fetchone()
    document = plan[0] if isinstance(plan[0], list) else json.loads(plan[0])
    return float(document[0]["Plan"]["Plan Rows"])


@pytest.mark.parametrize("table", ["partition", "load"])
def test_a_saved_reading_is_not_taken_for_a_row(misled, table: str) -> None:
    for hour in range(3):
        store.save_snapshot(misled, large_snapshot(PARTITIONS, 1, FIRST + timedelta(hours=hour)))
    newest = misled.execute("SELECT max(snapshot_key) FROM store.snapshot").fetchone()
    assert newest is not None
    assert estimated_rows(misled, table, newest[0]) > PARTITIONS / 3


def test_a_small_reading_costs_no_analyze(misled) -> None:
    before = misled.execute(
        "SELECT analyze_count FROM pg_stat_all_tables WHERE relname LIKE 'partition_2026w47'"
    ).fetchone()
    store.save_snapshot(misled, large_snapshot(FEWEST_ROWS // 2, 1, FIRST))
    misled.execute("SELECT pg_stat_force_next_flush()")
    after = misled.execute(
        "SELECT analyze_count FROM pg_stat_all_tables WHERE relname LIKE 'partition_2026w47'"
    ).fetchone()
    assert before == after


def test_statistics_are_of_what_rows_are_found_by(misled) -> None:
    """Documents and lists of members are not looked at: that is what takes long."""
    store.save_snapshot(misled, large_snapshot(PARTITIONS, 300, FIRST))
    rows = misled.execute(
        "SELECT DISTINCT attname FROM pg_stats WHERE tablename LIKE 'member_2026w47' ORDER BY attname"
    )
    assert {"snapshot_key", "group_id"} <= {name for (name,) in rows.fetchall()}


def test_an_unknown_table_is_refused(connection) -> None:
    with pytest.raises(psycopg.errors.RaiseException, match="no_such is no table of this schema"):
        connection.execute("SELECT store.analyze_tables('{no_such}', now())")


def test_the_writer_may_ask_and_nobody_else(connection) -> None:
    asked = "SELECT has_function_privilege(%s, 'store.analyze_tables(text[], timestamptz)', 'EXECUTE')"
    assert connection.execute(asked, ("advisor_writer",)).fetchone() == (True,)
    assert connection.execute(asked, ("advisor_reader",)).fetchone() == (False,)
