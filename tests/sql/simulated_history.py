"""Weeks and months of readings and advisories of several clusters, as they would lie in the store.

One cluster is read and advised for good, through the store's own functions; what follows is cloned from that inside
PostgreSQL, a reading after the other: disks grow, lags and skews swing, generations rise, findings come and go, every
sixth run fails. Nothing is drawn at random, and all of it ends now, since views look at the clock.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from psycopg import sql

from rebalance_advisor import store
from rebalance_advisor.store.run import RESULT_TABLES
from tests.sql.simulated_cluster import PARTITIONS, read_and_advise

# What changes from reading to reading, ``age`` days before the newest: a column's expression in terms of the first one.
_GROWTH = "(1 - 0.005 * moment.age_days)"
_SWING = "(1 + 0.1 * sin(moment.number))"
_READING_CHANGES = {
    "partition": {
        "log_bytes": f"ARRAY(SELECT (size * {_GROWTH})::bigint FROM unnest(base.log_bytes) AS size)",
        "end_offset": f"(base.end_offset * {_SWING})::bigint + 1000",
    },
    "load": {"in_bytes_per_s": f"base.in_bytes_per_s * {_SWING}", "log_bytes": f"base.log_bytes * {_GROWTH}"},
    "log_dir": {"usable_bytes": f"base.total_bytes - ((base.total_bytes - base.usable_bytes) * {_GROWTH})::bigint"},
    "consumer_group": {"generation": "base.generation + moment.number"},
    "broker_level": {
        "load": f"base.load * {_GROWTH}",
        "level_to_mean_ratio": "1 + (base.level_to_mean_ratio - 1) * (1 + sin(moment.number + base.broker))",
    },
    "resource_skew": {"skew": f"1 + (base.skew - 1) * {_SWING}"},
    "group_lag": {"lag_messages": "(base.lag_messages * (1 + sin(moment.number)))::bigint"},
}  # fmt: skip
_READING_KEYS = ("load_source", "coverage_gap")


@dataclass(frozen=True, slots=True)
class History:
    """``clusters`` clusters named cluster-01 and on, ``days`` days, ``readings_a_day``; one advisory a day each.

    ``whole_days``: readings older than that are thinned to the last of each day; None: all have their rows.
    """

    clusters: int
    days: int
    readings_a_day: int
    topic_partitions: int = PARTITIONS
    whole_days: int | None = None

    @property
    def readings(self) -> int:
        """Of each cluster, before the newest, which the advisor reads for good."""
        return self.days * self.readings_a_day


def simulate(connection: store.Connection, history: History) -> None:
    """Fill an empty store. About 20 s for 12 clusters, 90 days and a reading an hour, on one core."""
    now = datetime.now(UTC).replace(microsecond=0)
    for weeks in range(history.days // 7 + 3):
        connection.execute("SELECT store.ensure_week(%s)", (now - timedelta(weeks=weeks),))
    for number in range(1, history.clusters + 1):
        cluster = f"cluster-{number:02}"
        with connection.transaction():
            read_and_advise(connection, cluster, now, history.topic_partitions)
            clone_readings(connection, cluster, history)
            _clone_runs(connection, cluster, history)
            _attempts(connection, cluster)
    with connection.transaction():
        _roll_up(connection)
    connection.execute("ANALYZE")


def clone_readings(connection: store.Connection, cluster: str, history: History) -> None:
    """Readings before the newest; ``number`` counts them, ``age_days`` is how long before the newest they are. In the
    caller's transaction; hourly loads are not cloned.
    """
    connection.execute(
        """
        CREATE TEMP TABLE moment ON COMMIT DROP AS
        WITH made AS (
            INSERT INTO store.snapshot (
                snapshot_id, cluster, captured_at, captured_at_text, source, broker_count, topic_count, partition_count,
                replica_count, group_count, member_count, gap_count, status
            )
            SELECT
                md5(base.cluster || step), base.cluster, base.captured_at - step * make_interval(secs => %(seconds)s),
                base.captured_at_text, base.source, base.broker_count, base.topic_count, base.partition_count,
                base.replica_count, base.group_count, base.member_count, base.gap_count, 'passed'
            FROM store.snapshot AS base
            CROSS JOIN generate_series(1, %(steps)s) AS step
            WHERE base.cluster = %(cluster)s
            RETURNING snapshot_key, captured_at
        )
        SELECT
            made.snapshot_key, made.captured_at,
            %(steps)s - row_number() OVER (ORDER BY made.captured_at DESC) AS number,
            extract(epoch FROM base.captured_at - made.captured_at) / 86400 AS age_days, base.snapshot_key AS base_key
        FROM made
        CROSS JOIN (SELECT max(captured_at) AS captured_at, max(snapshot_key) AS snapshot_key FROM store.snapshot
                    WHERE cluster = %(cluster)s) AS base
        """,
        {"cluster": cluster, "seconds": 86_400 / history.readings_a_day, "steps": history.readings},
    )
    if history.whole_days is not None:
        connection.execute(
            """
            UPDATE store.snapshot SET is_pruned = true
            WHERE cluster = %(cluster)s AND captured_at < now() - make_interval(days => %(days)s)
                AND snapshot_key NOT IN (SELECT daily.snapshot_key FROM store.daily_snapshot AS daily)
            """,
            {"cluster": cluster, "days": history.whole_days},
        )
        connection.execute(
            "DELETE FROM moment USING store.snapshot WHERE snapshot.snapshot_key = moment.snapshot_key AND is_pruned"
        )
    # The newest one by the same rule, so that nothing jumps at the end.
    connection.execute(
        "UPDATE store.consumer_group SET generation = generation + %s WHERE snapshot_key = (SELECT base_key FROM moment"
        " LIMIT 1)", (history.readings,)
    )  # fmt: skip
    tables = [parent for (parent,) in connection.execute("SELECT DISTINCT parent FROM store.weeks()").fetchall()]
    names = [table for table in tables if "snapshot_key" in _columns(connection, table) and table != "load_history"]
    for table in (*names, *_READING_KEYS):
        changes = {"snapshot_key": "moment.snapshot_key", "captured_at": "moment.captured_at"} | _READING_CHANGES.get(
            table, {}
        )
        _clone(connection, table, "JOIN moment ON moment.base_key = base.snapshot_key", changes)


def _clone_runs(connection: store.Connection, cluster: str, history: History) -> None:
    """An advisory a day; findings come and go by their position, every third plan lacks the second move."""
    connection.execute(
        """
        CREATE TEMP TABLE advised ON COMMIT DROP AS
        WITH made AS (
            INSERT INTO store.run (
                run_id, cluster, snapshot_key, started_at, parameters, seed, advisor_version, status, published_at,
                attempted_at
            )
            SELECT
                'day-' || step || '.' || base.cluster, base.cluster, earlier.snapshot_key,
                base.started_at - make_interval(days => step), base.parameters, base.seed, base.advisor_version,
                'published',
                base.started_at - make_interval(days => step) + interval '90 seconds',
                base.started_at - make_interval(days => step)
            FROM store.run AS base
            CROSS JOIN generate_series(1, %(days)s - 1) AS step
            CROSS JOIN LATERAL (
                SELECT moment.snapshot_key FROM moment
                WHERE moment.captured_at <= base.started_at - make_interval(days => step)
                ORDER BY moment.captured_at DESC
                LIMIT 1
            ) AS earlier
            WHERE base.cluster = %(cluster)s
            RETURNING run_key, started_at
        )
        SELECT
            made.run_key, made.started_at, row_number() OVER (ORDER BY made.started_at) AS day,
            base.run_key AS base_key
        FROM made
        CROSS JOIN (SELECT max(run_key) AS run_key FROM store.run WHERE run_id = 'today.' || %(cluster)s) AS base
        """,
        {"cluster": cluster, "days": history.days},
    )
    keeps = {
        "finding": "AND mod(advised.day + base.position, 3) > 0",
        "move": "AND (mod(advised.day, 3) > 0 OR base.wave = 1)",
    }
    own = {"plan": {"plan_id": "md5(advised.run_key::text)"}}
    for table in RESULT_TABLES:
        if table == "check_result":
            continue
        changes = {"run_key": "advised.run_key", "started_at": "advised.started_at"} | own.get(table, {})
        joined = f"JOIN advised ON advised.base_key = base.run_key {keeps.get(table, '')}"
        _clone(connection, table, joined, changes)


def _attempts(connection: store.Connection, cluster: str) -> None:
    """Every sixth day a run that failed, an hour after the one that was published; one plan was asked about."""
    connection.execute(
        """
        INSERT INTO store.run (
            run_id, cluster, snapshot_key, started_at, parameters, seed, advisor_version, attempted_at
        )
        SELECT
            'failed-' || day || '.' || cluster, cluster, snapshot_key, run.started_at + interval '1 hour', parameters,
            seed, advisor_version, run.started_at + interval '1 hour'
        FROM store.run JOIN advised USING (run_key)
        WHERE mod(day, 6) = 0;
        """
    )
    connection.execute(
        """
        INSERT INTO store.task_failure (cluster, failed_at, dag, task, dag_run, message)
        SELECT %(cluster)s, started_at + interval '65 minutes', 'advise_' || %(cluster)s, 'replay_and_plan',
            'failed-' || day, 'no executor is left'
        FROM advised WHERE mod(day, 6) = 0
        """,
        {"cluster": cluster},
    )
    connection.execute(
        """
        INSERT INTO store.application (
            application_id, run_key, state, answered_at, answered_by, check_status, check_reasons,
            commands_shown_at, verified_at, move_count, applied_count, placed_count, moving_count, open_count,
            elsewhere_count, gone_count, short_isr, throttles, predicted_bytes, realised_bytes, unsized_move_count,
            predicted_seconds, realised_seconds, seconds_basis
        )
        SELECT
            'apply-' || run_key, run_key, 'partly_applied', started_at, 'ada', 'holds', '[]',
            started_at, started_at, 2, 1, 0, 0, 1, 0, 0, '{}', '{}', 100, 104, 0, 1.5, 2.5, 'told'
        FROM advised WHERE mod(day, 30) = 1;
        INSERT INTO store.application (application_id, run_key, state, failure)
        SELECT 'late-' || run_key, run_key, 'timed_out', 'table in clusters.toml is gone'
        FROM advised WHERE mod(day, 30) = 2
        """
    )


def _clone(connection: store.Connection, table: str, joined: str, changes: dict[str, str]) -> None:
    """All rows of a table that ``joined`` finds, again, with ``changes`` in place of their columns."""
    names = [name for name in _columns(connection, table) if name != "check_key"]
    values = [sql.SQL(changes[name]) if name in changes else sql.Identifier("base", name) for name in names]
    connection.execute(
        sql.SQL("INSERT INTO store.{} ({}) SELECT {} FROM store.{} AS base {}").format(
            sql.Identifier(table), sql.SQL(", ").join(map(sql.Identifier, names)), sql.SQL(", ").join(values),
            sql.Identifier(table), sql.SQL(joined),
        )
    )  # fmt: skip


def _columns(connection: store.Connection, table: str) -> list[str]:
    rows = connection.execute(
        "SELECT column_name FROM information_schema.columns WHERE table_schema = 'store' AND table_name = %s"
        " ORDER BY ordinal_position", (table,)
    )  # fmt: skip
    return [name for (name,) in rows.fetchall()]


def _roll_up(connection: store.Connection) -> None:
    """All hours and days at once, as ``store.reading_levels.roll_up`` makes them one by one."""
    connection.execute("TRUNCATE store.skew_hour, store.skew_day, store.broker_day, store.lag_hour, store.lag_day")
    for grain in ("hour", "day"):
        connection.execute(
            f"""
            INSERT INTO store.skew_{grain}
            SELECT cluster, date_trunc('{grain}', read.captured_at, 'UTC'), resource, min(unit), count(*), avg(total),
                avg(skew), max(skew), (array_agg(worst_broker ORDER BY skew DESC))[1]
            FROM store.snapshot JOIN store.resource_skew AS read USING (snapshot_key)
            GROUP BY 1, 2, 3
            """
        )
        connection.execute(
            f"""
            INSERT INTO store.lag_{grain}
            SELECT cluster, date_trunc('{grain}', read.captured_at, 'UTC'), group_id, count(*), avg(lag_messages),
                max(lag_messages)
            FROM store.snapshot JOIN store.group_lag AS read USING (snapshot_key)
            GROUP BY 1, 2, 3
            """
        )
    connection.execute(
        """
        INSERT INTO store.broker_day
        SELECT cluster, date_trunc('day', read.captured_at, 'UTC'), broker, resource, min(unit), count(*), avg(load),
            avg(level), avg(level_to_mean_ratio), max(level_to_mean_ratio)
        FROM store.snapshot JOIN store.broker_level AS read USING (snapshot_key)
        GROUP BY 1, 2, 3, 4
        """
    )
