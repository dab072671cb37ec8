-- Runs. Each query begins with its name and its purpose.

-- name: ensure_this_week
-- Create the week of a run's rows. They carry the start of the run, which may fall into the week that begins soon.
SELECT store.ensure_week(now()), store.ensure_week(now() + interval '1 hour')

-- name: start_run
-- A new run, or the same one again after a failure; returns no row if that is not allowed. started_at is the start of the
-- first attempt, attempted_at that of the last.
INSERT INTO store.run AS run (run_id, cluster, snapshot_key, parameters, seed, advisor_version)
SELECT %(run_id)s, %(cluster)s, snapshot_key, %(parameters)s, %(seed)s, %(advisor_version)s
FROM store.snapshot
WHERE snapshot_id = %(snapshot_id)s AND cluster = %(cluster)s AND status <> 'blocked' AND NOT is_pruned
FOR SHARE  -- retention cannot prune it now: it looks for runs after it has locked the row
ON CONFLICT (run_id) DO UPDATE
SET snapshot_key = excluded.snapshot_key,
    parameters = excluded.parameters,
    seed = excluded.seed,
    advisor_version = excluded.advisor_version,
    status = 'running',
    attempted_at = now()
WHERE run.status <> 'published' AND run.cluster = excluded.cluster
RETURNING run_key

-- name: find_run
-- Why a run could not be started.
SELECT status, cluster FROM store.run WHERE run_id = %(run_id)s

-- name: load_run
-- Options and state of a run.
SELECT
    run.run_key, run.run_id, run.cluster, snapshot.snapshot_id, run.parameters, run.seed, run.status,
    snapshot.partition_count
FROM store.run
JOIN store.snapshot ON snapshot.snapshot_key = run.snapshot_key
WHERE run.run_id = %(run_id)s

-- name: lock_run
-- Writers of one run take turns; publishing waits for them.
SELECT run_key, started_at, status FROM store.run WHERE run_id = %(run_id)s FOR UPDATE

-- name: publish_obstacles
-- Whether there is a plan, and the first blocking rule of the run or of its snapshot.
SELECT
    EXISTS (SELECT FROM store.plan WHERE run_key = %(run_key)s) AS has_plan,
    (
        SELECT check_result.rule
        FROM store.check_result
        JOIN store.run ON run.run_key = %(run_key)s
        WHERE check_result.level = 'block' AND check_result.failed_rows > 0
            AND (check_result.run_key = run.run_key OR check_result.snapshot_key = run.snapshot_key)
        ORDER BY check_result.check_key
        LIMIT 1
    ) AS broken_rule

-- name: publish_run
-- running -> published
UPDATE store.run SET status = 'published', published_at = now() WHERE run_key = %(run_key)s

-- name: block_run
-- running -> blocked
UPDATE store.run SET status = 'blocked' WHERE run_key = %(run_key)s

-- name: lock_publishing
-- Of the session, by the cluster's name: two names that hash alike wait for each other without need.
SELECT pg_advisory_lock(hashtextextended('publishing ' || %(cluster)s, 0))

-- name: unlock_publishing
-- The next writer of this cluster may publish.
SELECT pg_advisory_unlock(hashtextextended('publishing ' || %(cluster)s, 0))

-- name: newest_published
-- Newest published run of a cluster, without runs that started while Postgres' clock was ahead. Uses index
-- run_newest_published.
SELECT run_id
FROM store.run
WHERE cluster = %(cluster)s AND status = 'published' AND started_at <= now() + interval '5 minutes'
ORDER BY started_at DESC, run_key DESC
LIMIT 1

-- name: advisory_document
-- Document of a run's advisory, without its plan.
SELECT advisory.document
FROM store.advisory
JOIN store.run ON run.run_key = advisory.run_key
WHERE run.run_id = %(run_id)s

-- name: plan_document
-- plan.json of a run.
SELECT plan.document
FROM store.plan
JOIN store.run ON run.run_key = plan.run_key
WHERE run.run_id = %(run_id)s
