-- Queries of rebalance_advisor.store about retention. Each begins with its name and one line that says what for.

-- name: clock
-- Postgres' own time.
SELECT clock_timestamp()

-- name: week_before
-- Retention drops whole weeks (UTC): everything before this Monday goes.
SELECT date_trunc('week', (%(now)s::timestamptz - make_interval(days => %(days)s)) AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'

-- name: lock_old_readings
-- Readings whose rows go unless something rests on them (mark_pruned).
SELECT snapshot_key
FROM store.snapshot
WHERE time < %(before)s AND NOT is_pruned
ORDER BY snapshot_key
FOR NO KEY UPDATE

-- name: lock_thinned_readings
-- The same of those that are neither the last of their day nor of the weeks that are kept whole, which count back from
-- each cluster's newest reading.
SELECT snapshot.snapshot_key
FROM store.snapshot
JOIN (
    SELECT
        newest.cluster,
        date_trunc(
            'week', (least(newest.time, %(now)s) - make_interval(days => %(days)s)) AT TIME ZONE 'UTC'
        ) AT TIME ZONE 'UTC' AS begins
    FROM store.newest_snapshot AS newest
) AS whole ON whole.cluster = snapshot.cluster AND snapshot.time < whole.begins
WHERE NOT snapshot.is_pruned AND snapshot.snapshot_key NOT IN (SELECT daily.snapshot_key FROM store.daily_snapshot AS daily)
ORDER BY snapshot.snapshot_key
FOR NO KEY UPDATE OF snapshot

-- name: mark_pruned
-- Of readings whose lines are locked: not each cluster's newest, its last advisory's, and those that runs under way or
-- approvals under way are about.
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
-- Readings that stay with their rows, by the moment that says which week these lie in.
SELECT time FROM store.snapshot WHERE time < %(before)s AND NOT is_pruned

-- name: weeks_with_leavings
-- Partitions of the weeks in which pruned readings lie; sweep_week looks whether rows of them are left.
SELECT week.table_name
FROM store.weeks() AS week
WHERE week.parent = ANY (%(tables)s) AND EXISTS (
    SELECT
    FROM store.snapshot
    WHERE snapshot.is_pruned AND snapshot.time >= week.week_start AND snapshot.time < week.week_start + interval '7 days'
)
ORDER BY week.week_start, week.table_name

-- name: sweep_week
-- One partition of readings, written anew without those that are pruned.
SELECT store.sweep_week(%(table_name)s)

-- name: forget_snapshots
-- Lines of pruned readings that no run rests on go when their week is over for good.
DELETE FROM store.snapshot
WHERE is_pruned AND time < %(before)s
    AND NOT EXISTS (SELECT FROM store.run WHERE run.snapshot_key = snapshot.snapshot_key)

-- name: forget_load_sources
-- Details of pruned readings go with their rows; those that an advisory rests on, with their line.
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
-- Published runs before a Monday but each cluster's newest, and runs that were given up.
SELECT run_key
FROM store.run
WHERE (status = 'published' AND time < %(before)s AND run_key NOT IN (SELECT newest.run_key FROM store.newest_run AS newest))
    OR (status <> 'published' AND time < %(given_up_before)s)

-- name: kept_run_times
-- Runs that stay, by the moment that says which week their rows lie in.
SELECT time FROM store.run WHERE run_key <> ALL (%(old)s::bigint[]) AND time < %(before)s

-- name: forget_runs
-- What refers to them in small tables goes with them.
DELETE FROM store.run WHERE run_key = ANY (%(old)s::bigint[])

-- name: old_weeks
-- Partitions that end before a Monday.
SELECT table_name, parent, week_start FROM store.weeks() WHERE week_start + interval '7 days' <= %(before)s

-- name: drop_week
-- One partition whole.
SELECT store.drop_week(%(table_name)s)

-- name: forget_skew_hours
-- Roll-ups by the hour beyond their time; days stay.
DELETE FROM store.skew_hour WHERE time < %(before)s

-- name: forget_lag_hours
-- The same.
DELETE FROM store.lag_hour WHERE time < %(before)s

-- name: forget_failures
-- Failures are told as long as advisories.
DELETE FROM store.task_failure WHERE time < %(before)s
