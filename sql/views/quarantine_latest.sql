CREATE OR REPLACE VIEW advisor.quarantine_latest AS
SELECT
    newest.time,
    newest.cluster,
    newest.snapshot_id,
    each.subject_type,
    each.subject,
    each.rule,
    each.reason
FROM store.newest_snapshot AS newest
JOIN store.quarantine AS each
    ON each.snapshot_key = newest.snapshot_key;

COMMENT ON VIEW advisor.quarantine_latest IS 'Subjects that advice on the newest reading leaves out.';
COMMENT ON COLUMN advisor.quarantine_latest.time IS 'When the cluster was read.';
COMMENT ON COLUMN advisor.quarantine_latest.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.quarantine_latest.snapshot_id IS 'sha256 of the reading''s content.';
COMMENT ON COLUMN advisor.quarantine_latest.subject_type IS 'group, member, topic or broker.';
COMMENT ON COLUMN advisor.quarantine_latest.subject IS 'Which one.';
COMMENT ON COLUMN advisor.quarantine_latest.rule IS 'Gate rule that it broke.';
COMMENT ON COLUMN advisor.quarantine_latest.reason IS 'In words.';
