CREATE OR REPLACE VIEW advisor.quarantine AS
SELECT
    snapshot.time,
    snapshot.cluster,
    snapshot.snapshot_id,
    each.subject_type,
    each.subject,
    each.rule,
    each.reason
FROM store.snapshot
JOIN store.quarantine AS each
    ON each.snapshot_key = snapshot.snapshot_key
WHERE snapshot.status = 'passed';
