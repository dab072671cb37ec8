-- Queries of rebalance_advisor.store about tasks that failed. Each begins with its name and one line that says what for.

-- name: insert_failure
-- A task was given up.
INSERT INTO store.task_failure (cluster, dag, task, dag_run, words)
VALUES (%(cluster)s, %(dag)s, %(task)s, %(dag_run)s, %(words)s)
