CREATE OR REPLACE VIEW advisor.check_result AS
SELECT
    check_result.checked_at,
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

COMMENT ON VIEW advisor.check_result IS 'Results of the gates on every snapshot, and on every published or refused advisory.';
COMMENT ON COLUMN advisor.check_result.checked_at IS 'When it was checked.';
COMMENT ON COLUMN advisor.check_result.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.check_result.gate IS 'input or results.';
COMMENT ON COLUMN advisor.check_result.snapshot_id IS 'Checked snapshot; NULL for results.';
COMMENT ON COLUMN advisor.check_result.run_id IS 'Checked advisory; NULL for input.';
COMMENT ON COLUMN advisor.check_result.rule IS 'Code of the rule.';
COMMENT ON COLUMN advisor.check_result.level IS 'block, quarantine or warn.';
COMMENT ON COLUMN advisor.check_result.failed_rows IS 'Rows that break the rule; 0 is passed.';
COMMENT ON COLUMN advisor.check_result.sample IS 'First rows that break the rule.';
