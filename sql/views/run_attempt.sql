-- Every advisory that was started, also those that readers never got to see. A failure counts while nobody tries again.
CREATE OR REPLACE VIEW advisor.run_attempt AS
SELECT
    run.time,
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
    extract(epoch FROM coalesce(run.published_at, failure.time) - run.attempted_at)::double precision
        AS duration_seconds,
    extract(epoch FROM now() - run.attempted_at)::double precision AS age_seconds,
    failure.task AS failed_task,
    failure.words AS failure,
    run.advisor_version
FROM store.run
LEFT JOIN LATERAL (
    SELECT task_failure.time, task_failure.task, task_failure.words
    FROM store.task_failure
    WHERE task_failure.cluster = run.cluster AND task_failure.time >= run.attempted_at
        AND run.status <> 'published' AND task_failure.dag_run || '.' || run.cluster = run.run_id
    ORDER BY task_failure.time, task_failure.failure_key
    LIMIT 1
) AS failure ON true;
