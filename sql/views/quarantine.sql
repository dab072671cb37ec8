CREATE OR REPLACE VIEW advisor.quarantine AS
SELECT
    snapshot.captured_at,
    snapshot.cluster,
    snapshot.snapshot_id,
    quarantine.subject_type,
    quarantine.subject,
    quarantine.rule
FROM store.snapshot
JOIN store.quarantine
    ON quarantine.snapshot_key = snapshot.snapshot_key
WHERE snapshot.status = 'passed';

COMMENT ON VIEW advisor.quarantine IS 'Subjects of every snapshot that advisories leave out.';
COMMENT ON COLUMN advisor.quarantine.captured_at IS 'Time of the snapshot.';
COMMENT ON COLUMN advisor.quarantine.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.quarantine.snapshot_id IS 'sha256 of the snapshot''s content.';
COMMENT ON COLUMN advisor.quarantine.subject_type IS 'group, member, topic or broker.';
COMMENT ON COLUMN advisor.quarantine.subject IS 'Name or id of the subject.';
COMMENT ON COLUMN advisor.quarantine.rule IS 'Code of the gate rule that the subject breaks.';
