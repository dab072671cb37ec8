CREATE OR REPLACE VIEW advisor.task_failure AS
SELECT
    failed_at,
    cluster,
    dag,
    task,
    dag_run,
    message
FROM store.task_failure;

COMMENT ON VIEW advisor.task_failure IS 'Tasks of the advisor''s DAGs that failed after all retries.';
COMMENT ON COLUMN advisor.task_failure.failed_at IS 'Time of the last failure.';
COMMENT ON COLUMN advisor.task_failure.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.task_failure.dag IS 'DAG: collect_NAME, advise_NAME, apply_NAME.';
COMMENT ON COLUMN advisor.task_failure.task IS 'Task.';
COMMENT ON COLUMN advisor.task_failure.dag_run IS 'Run of the DAG, as Airflow names it.';
COMMENT ON COLUMN advisor.task_failure.message IS 'Last message of the task.';
