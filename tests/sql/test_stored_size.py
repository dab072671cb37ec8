"""What readings take in Postgres: whole, and thinned to one a day. Prints the table of internals/storage.md.

A cluster of 2,000 partitions is saved once through the store's own functions; its hours of four weeks are cloned from
that, and ``prune`` thins them.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from rebalance_advisor import store
from rebalance_advisor.store.prune import READING_TABLES
from tests.benchmarks.bench_store import large_snapshot
from tests.sql.simulated_history import History, clone_readings

pytestmark = [pytest.mark.stack, pytest.mark.matrix]

MONDAY = datetime(2026, 11, 16, 2, tzinfo=UTC)
CLUSTERS, PARTITIONS, GROUPS, DAYS = 12, 2_000, 40, 90
# On the day before it prunes again: of two weeks every reading, of the others one a day.
WHOLE_WEEKS, LOAD_HISTORY_WEEKS = 2, 6


def sizes(connection: store.Connection, week: str) -> dict[str, int]:
    """Bytes of each table of readings in one week, indices and all."""
    query = "SELECT pg_total_relation_size(to_regclass(%s))"
    return {table: int(connection.execute(query, (f"store.{table}_{week}",)).fetchone()[0]) for table in READING_TABLES}


def bytes_of_hourly_loads(connection: store.Connection) -> float:
    """Of one reading, as a week of them takes."""
    names = "captured_at, topic, topic_id, in_bytes_per_s, out_bytes_per_s, cpu_percent, in_messages_per_s"
    connection.execute(
        f"INSERT INTO store.load_history (snapshot_key, {names})"
        f" SELECT -number, {names} FROM store.load_history CROSS JOIN generate_series(1, 167) AS number"
    )
    query = "SELECT pg_total_relation_size('store.load_history_2026w47')"
    return float(connection.execute(query).fetchone()[0]) / 168


def test_ninety_days_of_twelve_clusters_take_a_quarter(connection: store.Connection) -> None:
    for weeks in range(6):
        connection.execute("SELECT store.ensure_week(%s)", (MONDAY - timedelta(weeks=weeks),))
    snapshot_id = store.save_snapshot(connection, large_snapshot(PARTITIONS, GROUPS, MONDAY))
    store.mark_snapshot(connection, snapshot_id, is_blocked=False)
    with connection.transaction():
        clone_readings(connection, "large", History(clusters=1, days=28, readings_a_day=24))
    hours = bytes_of_hourly_loads(connection)
    before = sizes(connection, "2026w43")
    pruned = store.prune(connection, keep_snapshots_days=DAYS, keep_runs_days=400, now=MONDAY + timedelta(minutes=30))
    after = sizes(connection, "2026w43")
    newest_whole = sum(sizes(connection, "2026w46").values())
    assert newest_whole == pytest.approx(sum(before.values()), rel=0.05), "the week before this one is left whole"
    print(f"\n{pruned}\n\n| table | a week whole, MB | thinned, MB |\n|---|---|---|")
    for table in sorted(before, key=before.__getitem__, reverse=True):
        print(f"| `{table}` | {before[table] / 1e6:.1f} | {after[table] / 1e6:.2f} |")
    loads = LOAD_HISTORY_WEEKS * 168 * hours
    weeks = DAYS / 7
    then = CLUSTERS * (weeks * sum(before.values()) + loads)
    now = CLUSTERS * (WHOLE_WEEKS * sum(before.values()) + (weeks - WHOLE_WEEKS) * sum(after.values()) + loads)
    print(f"\n{sum(before.values()) / 168 / 1e6:.2f} MB a reading; hourly loads {hours / 1e6:.3f} MB a reading")
    print(f"{CLUSTERS} clusters x {DAYS} days: {then / 1e9:.1f} GB whole, {now / 1e9:.1f} GB thinned: {now / then:.1%}")
    assert now <= then / 4
