CREATE OR REPLACE VIEW advisor.coverage AS
SELECT
    snapshot.captured_at,
    snapshot.cluster,
    snapshot.snapshot_id,
    coverage_gap.subject_type,
    coverage_gap.subject,
    coverage_gap.missing_code,
    coverage_gap.missing_args,
    coverage_gap.reason_code,
    coverage_gap.reason_args
FROM store.snapshot
JOIN store.coverage_gap
    ON coverage_gap.snapshot_key = snapshot.snapshot_key
WHERE snapshot.status = 'passed';

COMMENT ON VIEW advisor.coverage IS 'Coverage gaps of every snapshot: data that could not be read.';
COMMENT ON COLUMN advisor.coverage.captured_at IS 'Time of the snapshot.';
COMMENT ON COLUMN advisor.coverage.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.coverage.snapshot_id IS 'sha256 of the snapshot''s content.';
COMMENT ON COLUMN advisor.coverage.subject_type IS 'cluster, broker, topic, partition, group, member or right.';
COMMENT ON COLUMN advisor.coverage.subject IS 'Name or id of the subject.';
COMMENT ON COLUMN advisor.coverage.missing_code IS 'Missing data, as a code.';
COMMENT ON COLUMN advisor.coverage.missing_args IS 'Arguments of missing_code: names, counts.';
COMMENT ON COLUMN advisor.coverage.reason_code IS 'Why, as a code.';
COMMENT ON COLUMN advisor.coverage.reason_args IS 'Arguments of reason_code: broker, seconds, error code.';
