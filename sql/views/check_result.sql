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

COMMENT ON VIEW advisor.check_result IS 'What the gates found: on every reading, and on every advisory that is published or was refused.';
COMMENT ON COLUMN advisor.check_result.time IS 'When it was checked.';
COMMENT ON COLUMN advisor.check_result.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.check_result.gate IS 'input or results.';
COMMENT ON COLUMN advisor.check_result.snapshot_id IS 'Reading that was checked; NULL for results.';
COMMENT ON COLUMN advisor.check_result.run_id IS 'Advisory that was checked; NULL for input.';
COMMENT ON COLUMN advisor.check_result.rule IS 'Rule.';
COMMENT ON COLUMN advisor.check_result.level IS 'block, quarantine or warn.';
COMMENT ON COLUMN advisor.check_result.failed_rows IS 'Rows that broke it; 0 is passed.';
COMMENT ON COLUMN advisor.check_result.message IS 'In words.';
COMMENT ON COLUMN advisor.check_result.sample IS 'The first rows that broke it.';
