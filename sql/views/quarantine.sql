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

COMMENT ON VIEW advisor.quarantine IS 'Subjects that advice on a reading leaves out.';
COMMENT ON COLUMN advisor.quarantine.time IS 'When the cluster was read.';
COMMENT ON COLUMN advisor.quarantine.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.quarantine.snapshot_id IS 'sha256 of the reading''s content.';
COMMENT ON COLUMN advisor.quarantine.subject_type IS 'group, member, topic or broker.';
COMMENT ON COLUMN advisor.quarantine.subject IS 'Which one.';
COMMENT ON COLUMN advisor.quarantine.rule IS 'Gate rule that it broke.';
COMMENT ON COLUMN advisor.quarantine.reason IS 'In words.';
