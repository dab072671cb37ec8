CREATE OR REPLACE VIEW advisor.quarantine AS
SELECT
    snapshot.time,
    snapshot.cluster,
    snapshot.snapshot_id,
    quarantine.subject_type,
    quarantine.subject,
    quarantine.rule
FROM store.snapshot
JOIN store.quarantine
    ON quarantine.snapshot_key = snapshot.snapshot_key
WHERE snapshot.status = 'passed';
