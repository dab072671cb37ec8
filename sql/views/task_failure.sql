CREATE OR REPLACE VIEW advisor.task_failure AS
SELECT
    time,
    cluster,
    dag,
    task,
    dag_run,
    words
FROM store.task_failure;
