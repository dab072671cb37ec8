-- A failure counts until the next attempt.
CREATE OR REPLACE VIEW advisor.run_attempt AS
SELECT
    run.started_at,
    run.cluster,
    run.run_id,
    CASE
        WHEN run.status = 'published' THEN 'published'
        WHEN run.status = 'blocked' THEN 'refused'
        WHEN failure.task IS NOT NULL THEN 'failed'
        WHEN run.attempted_at < now() - interval '6 hours' THEN 'given_up'
        ELSE 'running'
    END AS state,
    run.attempted_at,
    run.published_at,
    extract(epoch FROM coalesce(run.published_at, failure.failed_at) - run.attempted_at)::double precision
        AS duration_seconds,
    extract(epoch FROM now() - run.attempted_at)::double precision AS age_seconds,
    failure.task AS failed_task,
    failure.message AS failure,
    run.advisor_version,
    snapshot.snapshot_id
FROM store.run
JOIN store.snapshot ON snapshot.snapshot_key = run.snapshot_key
LEFT JOIN LATERAL (
    SELECT task_failure.failed_at, task_failure.task, task_failure.message
    FROM store.task_failure
    WHERE task_failure.cluster = run.cluster AND task_failure.failed_at >= run.attempted_at
        AND run.status <> 'published' AND task_failure.dag_run || '.' || run.cluster = run.run_id
    ORDER BY task_failure.failed_at, task_failure.failure_key
    LIMIT 1
) AS failure ON true;

COMMENT ON VIEW advisor.run_attempt IS 'Every started advisory, also refused, failed and unfinished ones.';
COMMENT ON COLUMN advisor.run_attempt.started_at IS 'Start of the first attempt.';
COMMENT ON COLUMN advisor.run_attempt.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.run_attempt.run_id IS 'Id of the advisory; other views have it only if state is published.';
COMMENT ON COLUMN advisor.run_attempt.state IS 'published, refused (by the result gate), failed (a task failed), given_up (not published six hours after its last attempt) or running.';
COMMENT ON COLUMN advisor.run_attempt.attempted_at IS 'Start of the last attempt.';
COMMENT ON COLUMN advisor.run_attempt.published_at IS 'Publication; NULL: not published.';
COMMENT ON COLUMN advisor.run_attempt.duration_seconds IS 'Time from the last attempt to publication or failure; NULL: neither happened.';
COMMENT ON COLUMN advisor.run_attempt.age_seconds IS 'Time since the start of the last attempt.';
COMMENT ON COLUMN advisor.run_attempt.failed_task IS 'First failed task; NULL: none.';
COMMENT ON COLUMN advisor.run_attempt.failure IS 'Last message of that task.';
COMMENT ON COLUMN advisor.run_attempt.advisor_version IS 'Version of the advisor.';
COMMENT ON COLUMN advisor.run_attempt.snapshot_id IS 'Snapshot that the advisory is about.';
