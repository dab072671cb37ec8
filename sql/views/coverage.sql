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

COMMENT ON VIEW advisor.coverage IS 'What could not be read, in every reading.';
COMMENT ON COLUMN advisor.coverage.time IS 'When the cluster was read.';
COMMENT ON COLUMN advisor.coverage.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.coverage.snapshot_id IS 'sha256 of the reading''s content.';
COMMENT ON COLUMN advisor.coverage.subject_type IS 'cluster, broker, topic, partition, group or member.';
COMMENT ON COLUMN advisor.coverage.subject IS 'Which one.';
COMMENT ON COLUMN advisor.coverage.what IS 'What of it could not be read.';
COMMENT ON COLUMN advisor.coverage.reason IS 'Why.';
