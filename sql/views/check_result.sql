CREATE OR REPLACE VIEW advisor.check_result AS
SELECT
    each.checked_at AS time,
    coalesce(snapshot.cluster, run.cluster) AS cluster,
    each.gate,
    snapshot.snapshot_id,
    run.run_id,
    each.rule,
    each.level,
    each.failed_rows,
    each.message,
    each.sample
FROM store.check_result AS each
LEFT JOIN store.snapshot ON snapshot.snapshot_key = each.snapshot_key
LEFT JOIN store.run ON run.run_key = each.run_key
WHERE run.status IS DISTINCT FROM 'running';
