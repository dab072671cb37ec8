CREATE OR REPLACE VIEW advisor.coverage AS
SELECT
    snapshot.time,
    snapshot.cluster,
    snapshot.snapshot_id,
    coverage_gap.subject_type,
    coverage_gap.subject,
    coverage_gap.what_code,
    coverage_gap.what_args,
    coverage_gap.reason_code,
    coverage_gap.reason_args
FROM store.snapshot
JOIN store.coverage_gap
    ON coverage_gap.snapshot_key = snapshot.snapshot_key
WHERE snapshot.status = 'passed';
