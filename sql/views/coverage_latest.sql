CREATE OR REPLACE VIEW advisor.coverage_latest AS
SELECT
    newest.time,
    newest.cluster,
    newest.snapshot_id,
    each.subject_type,
    each.subject,
    each.what,
    each.reason
FROM store.newest_snapshot AS newest
JOIN store.coverage_gap AS each
    ON each.snapshot_key = newest.snapshot_key;

COMMENT ON VIEW advisor.coverage_latest IS 'What could not be read in the newest reading of each cluster.';
COMMENT ON COLUMN advisor.coverage_latest.time IS 'When the cluster was read.';
COMMENT ON COLUMN advisor.coverage_latest.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.coverage_latest.snapshot_id IS 'sha256 of the reading''s content.';
COMMENT ON COLUMN advisor.coverage_latest.subject_type IS 'cluster, broker, topic, partition, group or member.';
COMMENT ON COLUMN advisor.coverage_latest.subject IS 'Which one.';
COMMENT ON COLUMN advisor.coverage_latest.what IS 'What of it could not be read.';
COMMENT ON COLUMN advisor.coverage_latest.reason IS 'Why.';
