-- The advisor's own health: one line a cluster that was read or advised, whatever came of it.
CREATE OR REPLACE VIEW advisor.advisor_health AS
WITH cluster AS (
    SELECT DISTINCT cluster FROM store.snapshot
    UNION
    SELECT DISTINCT cluster FROM store.task_failure
)
SELECT
    greatest(newest_reading.stored_at, newest.attempted_at, failed.last_at) AS time,
    cluster.cluster,
    newest_reading.time AS last_reading_at,
    greatest(extract(epoch FROM now() - newest_reading.time), 0)::double precision AS reading_age_seconds,
    newest.time AS last_run_at,
    newest.run_id AS last_run_id,
    newest.state AS last_run_state,
    published.published_at AS last_published_at,
    extract(epoch FROM now() - published.published_at)::double precision AS published_age_seconds,
    published.duration_seconds AS published_duration_seconds,
    coalesce(counted.published, 0) AS published_7d,
    coalesce(counted.unpublished, 0) AS unpublished_7d,
    refused.readings AS refused_readings_7d,
    failed.times AS failures_7d,
    failed.last_at AS last_failure_at,
    failed.last_words AS last_failure
FROM cluster
LEFT JOIN LATERAL (
    SELECT snapshot.time, snapshot.stored_at
    FROM store.snapshot
    WHERE snapshot.cluster = cluster.cluster AND snapshot.status = 'passed'
        AND snapshot.time <= least(snapshot.stored_at, now()) + interval '5 minutes'
    ORDER BY snapshot.time DESC, snapshot.snapshot_key DESC
    LIMIT 1
) AS newest_reading ON true
LEFT JOIN LATERAL (
    SELECT run_attempt.time, run_attempt.run_id, run_attempt.state, run_attempt.attempted_at
    FROM advisor.run_attempt
    WHERE run_attempt.cluster = cluster.cluster AND run_attempt.time <= now() + interval '5 minutes'
    ORDER BY run_attempt.time DESC
    LIMIT 1
) AS newest ON true
LEFT JOIN LATERAL (
    SELECT
        run.published_at,
        extract(epoch FROM run.published_at - run.attempted_at)::double precision AS duration_seconds
    FROM store.run
    WHERE run.cluster = cluster.cluster AND run.status = 'published' AND run.time <= now() + interval '5 minutes'
    ORDER BY run.time DESC, run.run_key DESC
    LIMIT 1
) AS published ON true
CROSS JOIN LATERAL (
    SELECT
        count(*) FILTER (WHERE run_attempt.state = 'published') AS published,
        count(*) FILTER (WHERE run_attempt.state IN ('refused', 'failed', 'given_up')) AS unpublished
    FROM advisor.run_attempt
    WHERE run_attempt.cluster = cluster.cluster AND run_attempt.time > now() - interval '7 days'
) AS counted
CROSS JOIN LATERAL (
    SELECT count(*) AS readings
    FROM store.snapshot
    WHERE snapshot.cluster = cluster.cluster AND snapshot.status = 'blocked'
        AND snapshot.time > now() - interval '7 days'
) AS refused
CROSS JOIN LATERAL (
    SELECT
        count(*) FILTER (WHERE task_failure.time > now() - interval '7 days') AS times,
        max(task_failure.time) AS last_at,
        (array_agg(task_failure.words ORDER BY task_failure.time DESC, task_failure.failure_key DESC))[1] AS last_words
    FROM store.task_failure
    WHERE task_failure.cluster = cluster.cluster
) AS failed;
