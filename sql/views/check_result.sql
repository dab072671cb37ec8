CREATE OR REPLACE VIEW advisor.check_result AS
SELECT
    check_result.checked_at AS time,
    coalesce(snapshot.cluster, run.cluster) AS cluster,
    check_result.gate,
    snapshot.snapshot_id,
    run.run_id,
    check_result.rule,
    check_result.level,
    check_result.failed_rows,
    check_result.sample
FROM store.check_result
LEFT JOIN store.snapshot ON snapshot.snapshot_key = check_result.snapshot_key
LEFT JOIN store.run ON run.run_key = check_result.run_key
WHERE run.status IS DISTINCT FROM 'running';
