-- Failed tasks. Each query begins with its name and its purpose.

-- name: running_attempts
-- Advisories under way, as far as the store knows.
SELECT cluster, run_id FROM advisor.run_attempt WHERE state = 'running' ORDER BY cluster, run_id

-- name: insert_failure
-- A task failed after its retries.
INSERT INTO store.task_failure (cluster, dag, task, dag_run, message)
VALUES (%(cluster)s, %(dag)s, %(task)s, %(dag_run)s, %(message)s)
