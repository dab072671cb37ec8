-- Queries of rebalance_advisor.store about tasks that failed. Each begins with its name and one line that says what for.

-- name: running_attempts
-- Advisories under way, as far as the store knows.
SELECT cluster, run_id FROM advisor.run_attempt WHERE state = 'running' ORDER BY cluster, run_id

-- name: insert_failure
-- A task was given up.
INSERT INTO store.task_failure (cluster, dag, task, dag_run, words)
VALUES (%(cluster)s, %(dag)s, %(task)s, %(dag_run)s, %(words)s)
