CREATE OR REPLACE VIEW advisor.advisor_health AS
WITH cluster AS (
    SELECT DISTINCT cluster FROM store.snapshot
    UNION
    SELECT DISTINCT cluster FROM store.task_failure
)
SELECT
    greatest(newest_reading.stored_at, newest.attempted_at, failed.last_at) AS last_activity_at,
    cluster.cluster,
    newest_reading.captured_at AS last_snapshot_at,
    greatest(extract(epoch FROM now() - newest_reading.captured_at), 0)::double precision AS snapshot_age_seconds,
    newest.started_at AS last_run_at,
    newest.run_id AS last_run_id,
    newest.state AS last_run_state,
    published.published_at AS last_published_at,
    extract(epoch FROM now() - published.published_at)::double precision AS published_age_seconds,
    published.duration_seconds AS published_duration_seconds,
    coalesce(counted.published, 0) AS published_7d,
    coalesce(counted.unpublished, 0) AS unpublished_7d,
    refused.readings AS refused_snapshots_7d,
    failed.times AS failures_7d,
    failed.last_at AS last_failure_at,
    failed.last_message AS last_failure
FROM cluster
LEFT JOIN LATERAL (
    SELECT snapshot.captured_at, snapshot.stored_at
    FROM store.snapshot
    WHERE snapshot.cluster = cluster.cluster AND snapshot.status = 'passed'
        AND snapshot.captured_at <= least(snapshot.stored_at, now()) + interval '5 minutes'
    ORDER BY snapshot.captured_at DESC, snapshot.snapshot_key DESC
    LIMIT 1
) AS newest_reading ON true
LEFT JOIN LATERAL (
    SELECT run_attempt.started_at, run_attempt.run_id, run_attempt.state, run_attempt.attempted_at
    FROM advisor.run_attempt
    WHERE run_attempt.cluster = cluster.cluster AND run_attempt.started_at <= now() + interval '5 minutes'
    ORDER BY run_attempt.started_at DESC
    LIMIT 1
) AS newest ON true
LEFT JOIN LATERAL (
    SELECT
        run.published_at,
        extract(epoch FROM run.published_at - run.attempted_at)::double precision AS duration_seconds
    FROM store.run
    WHERE run.cluster = cluster.cluster AND run.status = 'published' AND run.started_at <= now() + interval '5 minutes'
    ORDER BY run.started_at DESC, run.run_key DESC
    LIMIT 1
) AS published ON true
CROSS JOIN LATERAL (
    SELECT
        count(*) FILTER (WHERE run_attempt.state = 'published') AS published,
        count(*) FILTER (WHERE run_attempt.state IN ('refused', 'failed', 'given_up')) AS unpublished
    FROM advisor.run_attempt
    WHERE run_attempt.cluster = cluster.cluster AND run_attempt.started_at > now() - interval '7 days'
) AS counted
CROSS JOIN LATERAL (
    SELECT count(*) AS readings
    FROM store.snapshot
    WHERE snapshot.cluster = cluster.cluster AND snapshot.status = 'blocked'
        AND snapshot.captured_at > now() - interval '7 days'
) AS refused
CROSS JOIN LATERAL (
    SELECT
        count(*) FILTER (WHERE task_failure.failed_at > now() - interval '7 days') AS times,
        max(task_failure.failed_at) AS last_at,
        (array_agg(task_failure.message ORDER BY task_failure.failed_at DESC, task_failure.failure_key DESC))[1] AS last_message
    FROM store.task_failure
    WHERE task_failure.cluster = cluster.cluster
) AS failed;

COMMENT ON VIEW advisor.advisor_health IS 'Health of the advisor; one row for each cluster with a snapshot or a failed task.';
COMMENT ON COLUMN advisor.advisor_health.last_activity_at IS 'Time of the last snapshot, attempt or failure of this cluster.';
COMMENT ON COLUMN advisor.advisor_health.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.advisor_health.last_snapshot_at IS 'Time of the newest snapshot that passed the input gate.';
COMMENT ON COLUMN advisor.advisor_health.snapshot_age_seconds IS 'Age of that snapshot now.';
COMMENT ON COLUMN advisor.advisor_health.last_run_at IS 'Start of the newest advisory, in any state.';
COMMENT ON COLUMN advisor.advisor_health.last_run_id IS 'Id of that advisory.';
COMMENT ON COLUMN advisor.advisor_health.last_run_state IS 'State of that advisory, as in run_attempt.';
COMMENT ON COLUMN advisor.advisor_health.last_published_at IS 'Publication of the newest advisory; NULL: none is published.';
COMMENT ON COLUMN advisor.advisor_health.published_age_seconds IS 'Time since that publication.';
COMMENT ON COLUMN advisor.advisor_health.published_duration_seconds IS 'Time from the last attempt of that advisory to its publication.';
COMMENT ON COLUMN advisor.advisor_health.published_7d IS 'Published advisories of the last seven days.';
COMMENT ON COLUMN advisor.advisor_health.unpublished_7d IS 'Advisories of the last seven days that were refused, failed or never ended.';
COMMENT ON COLUMN advisor.advisor_health.refused_snapshots_7d IS 'Snapshots of the last seven days that the input gate refused.';
COMMENT ON COLUMN advisor.advisor_health.failures_7d IS 'Failed tasks of the last seven days.';
COMMENT ON COLUMN advisor.advisor_health.last_failure_at IS 'Time of the last failed task; NULL: none is known.';
COMMENT ON COLUMN advisor.advisor_health.last_failure IS 'Last message of that task.';
