-- Queries of rebalance_advisor.store about retention. Each begins with its name and one line that says what for.

-- name: week_before
-- Retention drops whole weeks (UTC): everything before this Monday goes.
SELECT date_trunc('week', (%(now)s::timestamptz - make_interval(days => %(days)s)) AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'

-- name: kept_snapshots
-- Readings that stay however old: each cluster's newest, its last advisory's, and those that unfinished runs work on.
SELECT snapshot_key, time FROM store.newest_snapshot
UNION
SELECT snapshot.snapshot_key, snapshot.time
FROM store.run
JOIN store.snapshot ON snapshot.snapshot_key = run.snapshot_key
WHERE run.status <> 'published' OR run.run_key IN (SELECT newest.run_key FROM store.newest_run AS newest)

-- name: old_snapshots
-- Readings whose rows go.
SELECT snapshot_key
FROM store.snapshot
WHERE time < %(before)s AND NOT is_pruned AND snapshot_key <> ALL (%(kept)s::bigint[])

-- name: forget_snapshots
-- Readings that no run rests on go altogether.
DELETE FROM store.snapshot
WHERE (snapshot_key = ANY (%(old)s::bigint[]) OR is_pruned)
    AND NOT EXISTS (SELECT FROM store.run WHERE run.snapshot_key = snapshot.snapshot_key)

-- name: mark_pruned
-- Of the others a line is left.
UPDATE store.snapshot SET is_pruned = true WHERE snapshot_key = ANY (%(old)s::bigint[])

-- name: forget_load_sources
-- What would stand in the way of saving the same reading again.
DELETE FROM store.load_source WHERE snapshot_key = ANY (%(old)s::bigint[])

-- name: forget_coverage
-- The same.
DELETE FROM store.coverage_gap WHERE snapshot_key = ANY (%(old)s::bigint[])

-- name: forget_all_quarantine
-- The same.
DELETE FROM store.quarantine WHERE snapshot_key = ANY (%(old)s::bigint[])

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
