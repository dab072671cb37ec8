CREATE OR REPLACE VIEW advisor.quarantine_latest AS
SELECT
    newest.captured_at,
    newest.cluster,
    newest.snapshot_id,
    quarantine.subject_type,
    quarantine.subject,
    quarantine.rule
FROM store.newest_snapshot AS newest
JOIN store.quarantine
    ON quarantine.snapshot_key = newest.snapshot_key;

COMMENT ON VIEW advisor.quarantine_latest IS 'Subjects of the newest snapshot that advisories leave out.';
COMMENT ON COLUMN advisor.quarantine_latest.captured_at IS 'Time of the snapshot.';
COMMENT ON COLUMN advisor.quarantine_latest.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.quarantine_latest.snapshot_id IS 'sha256 of the snapshot''s content.';
COMMENT ON COLUMN advisor.quarantine_latest.subject_type IS 'group, member, topic or broker.';
COMMENT ON COLUMN advisor.quarantine_latest.subject IS 'Name or id of the subject.';
COMMENT ON COLUMN advisor.quarantine_latest.rule IS 'Code of the gate rule that the subject breaks.';
