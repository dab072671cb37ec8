CREATE OR REPLACE VIEW advisor.coverage_latest AS
SELECT
    newest.captured_at,
    newest.cluster,
    newest.snapshot_id,
    coverage_gap.subject_type,
    coverage_gap.subject,
    coverage_gap.missing_code,
    coverage_gap.missing_args,
    coverage_gap.reason_code,
    coverage_gap.reason_args
FROM store.newest_snapshot AS newest
JOIN store.coverage_gap
    ON coverage_gap.snapshot_key = newest.snapshot_key;

COMMENT ON VIEW advisor.coverage_latest IS 'Coverage gaps of the newest snapshot of each cluster.';
COMMENT ON COLUMN advisor.coverage_latest.captured_at IS 'Time of the snapshot.';
COMMENT ON COLUMN advisor.coverage_latest.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.coverage_latest.snapshot_id IS 'sha256 of the snapshot''s content.';
COMMENT ON COLUMN advisor.coverage_latest.subject_type IS 'cluster, broker, topic, partition, group, member or right.';
COMMENT ON COLUMN advisor.coverage_latest.subject IS 'Name or id of the subject.';
COMMENT ON COLUMN advisor.coverage_latest.missing_code IS 'Missing data, as a code.';
COMMENT ON COLUMN advisor.coverage_latest.missing_args IS 'Arguments of missing_code: names, counts.';
COMMENT ON COLUMN advisor.coverage_latest.reason_code IS 'Why, as a code.';
COMMENT ON COLUMN advisor.coverage_latest.reason_args IS 'Arguments of reason_code: broker, seconds, error code.';
