CREATE OR REPLACE VIEW advisor.coverage AS
SELECT
    snapshot.time,
    snapshot.cluster,
    snapshot.snapshot_id,
    each.subject_type,
    each.subject,
    each.what,
    each.reason
FROM store.snapshot
JOIN store.coverage_gap AS each
    ON each.snapshot_key = snapshot.snapshot_key
WHERE snapshot.status = 'passed';
