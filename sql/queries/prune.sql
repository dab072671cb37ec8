-- Retention. Each query begins with its name and its purpose.

-- name: clock
-- Clock of Postgres.
SELECT clock_timestamp()

-- name: week_before
-- Retention drops whole weeks (UTC): everything before this Monday goes.
SELECT date_trunc('week', (%(now)s::timestamptz - make_interval(days => %(days)s)) AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'

-- name: lock_old_readings
-- Snapshots to prune unless something refers to them (mark_pruned).
SELECT snapshot_key
FROM store.snapshot
WHERE captured_at < %(before)s AND NOT is_pruned
ORDER BY snapshot_key
FOR NO KEY UPDATE

-- name: lock_thinned_readings
-- Snapshots to thin: neither the last of their day nor of the weeks that are kept whole. These weeks count back from the
-- newest snapshot of each cluster.
SELECT snapshot.snapshot_key
FROM store.snapshot
JOIN (
    SELECT
        newest.cluster,
        date_trunc(
            'week', (least(newest.captured_at, %(now)s) - make_interval(days => %(days)s)) AT TIME ZONE 'UTC'
        ) AT TIME ZONE 'UTC' AS begins
    FROM store.newest_snapshot AS newest
) AS whole ON whole.cluster = snapshot.cluster AND snapshot.captured_at < whole.begins
WHERE NOT snapshot.is_pruned AND snapshot.snapshot_key NOT IN (SELECT daily.snapshot_key FROM store.daily_snapshot AS daily)
ORDER BY snapshot.snapshot_key
FOR NO KEY UPDATE OF snapshot

-- name: mark_pruned
-- Mark the locked snapshots, without the newest of each cluster, that of its last advisory, and those of unfinished runs
-- and requests.
UPDATE store.snapshot
SET is_pruned = true
WHERE snapshot_key = ANY (%(candidates)s::bigint[])
    AND NOT is_pruned
    AND snapshot_key NOT IN (SELECT newest.snapshot_key FROM store.newest_snapshot AS newest)
    AND NOT EXISTS (
        SELECT
        FROM store.run
        WHERE run.snapshot_key = snapshot.snapshot_key
            AND (
                run.status <> 'published'
                OR run.run_key IN (SELECT newest.run_key FROM store.newest_run AS newest)
                OR run.run_key IN (SELECT asked.run_key FROM store.application AS asked WHERE asked.state IN ('asked', 'approved'))
            )
    )
RETURNING snapshot_key

-- name: kept_reading_times
-- Times of the snapshots that keep their rows: they name the weeks to keep.
SELECT captured_at FROM store.snapshot WHERE captured_at < %(before)s AND NOT is_pruned

-- name: weeks_with_leavings
-- Partitions of the weeks with pruned snapshots; sweep_week looks whether rows of them are left.
SELECT week.table_name
FROM store.weeks() AS week
WHERE week.parent = ANY (%(tables)s) AND EXISTS (
    SELECT
    FROM store.snapshot
    WHERE snapshot.is_pruned AND snapshot.captured_at >= week.week_start AND snapshot.captured_at < week.week_start + interval '7 days'
)
ORDER BY week.week_start, week.table_name

-- name: sweep_week
-- Rewrite one partition without the pruned snapshots.
SELECT store.sweep_week(%(table_name)s)

-- name: forget_snapshots
-- Rows of pruned snapshots that no run refers to, once their week is dropped.
DELETE FROM store.snapshot
WHERE is_pruned AND captured_at < %(before)s
    AND NOT EXISTS (SELECT FROM store.run WHERE run.snapshot_key = snapshot.snapshot_key)

-- name: forget_load_sources
-- Load sources of pruned snapshots, except those of advisories.
DELETE FROM store.load_source
WHERE snapshot_key = ANY (%(marked)s::bigint[])
    AND NOT EXISTS (SELECT FROM store.run WHERE run.snapshot_key = load_source.snapshot_key)

-- name: forget_coverage
-- The same.
DELETE FROM store.coverage_gap
WHERE snapshot_key = ANY (%(marked)s::bigint[])
    AND NOT EXISTS (SELECT FROM store.run WHERE run.snapshot_key = coverage_gap.snapshot_key)

-- name: forget_all_quarantine
-- The same.
DELETE FROM store.quarantine
WHERE snapshot_key = ANY (%(marked)s::bigint[])
    AND NOT EXISTS (SELECT FROM store.run WHERE run.snapshot_key = quarantine.snapshot_key)

-- name: old_runs
-- Published runs before a Monday except the newest of each cluster, and unfinished old runs.
SELECT run_key
FROM store.run
WHERE (status = 'published' AND started_at < %(before)s AND run_key NOT IN (SELECT newest.run_key FROM store.newest_run AS newest))
    OR (status <> 'published' AND started_at < %(given_up_before)s)

-- name: kept_run_times
-- Times of the runs that stay: they name the weeks to keep.
SELECT started_at FROM store.run WHERE run_key <> ALL (%(old)s::bigint[]) AND started_at < %(before)s

-- name: forget_runs
-- Rows in small tables go with their run (ON DELETE CASCADE).
DELETE FROM store.run WHERE run_key = ANY (%(old)s::bigint[])

-- name: old_weeks
-- Partitions that end before a Monday.
SELECT table_name, parent, week_start FROM store.weeks() WHERE week_start + interval '7 days' <= %(before)s

-- name: drop_week
-- Drop one partition.
SELECT store.drop_week(%(table_name)s)

-- name: forget_skew_hours
-- Old roll-ups by hour; those by day stay.
DELETE FROM store.skew_hour WHERE period_start < %(before)s

-- name: forget_lag_hours
-- The same.
DELETE FROM store.lag_hour WHERE period_start < %(before)s

-- name: forget_failures
-- Failures are kept as long as advisories.
DELETE FROM store.task_failure WHERE failed_at < %(before)s
