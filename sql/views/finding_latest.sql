CREATE OR REPLACE VIEW advisor.finding_latest AS
SELECT
    newest.time,
    newest.cluster,
    newest.run_id,
    each.position AS rank,
    each.finding_key,
    each.code,
    each.severity,
    each.subject_type,
    each.subject,
    each.evidence,
    each.recommendation,
    each.cost,
    each.gain,
    each.confidence
FROM store.newest_run AS newest
JOIN store.finding AS each
    ON each.run_key = newest.run_key;

COMMENT ON VIEW advisor.finding_latest IS 'Findings of the newest published advisory of each cluster.';
COMMENT ON COLUMN advisor.finding_latest.time IS 'When the advisory was started.';
COMMENT ON COLUMN advisor.finding_latest.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.finding_latest.run_id IS 'The advisory that says so.';
COMMENT ON COLUMN advisor.finding_latest.rank IS '1 is the first to look at.';
COMMENT ON COLUMN advisor.finding_latest.finding_key IS 'The same for the same trouble in every advisory.';
COMMENT ON COLUMN advisor.finding_latest.code IS 'Kind of trouble (registry of codes).';
COMMENT ON COLUMN advisor.finding_latest.severity IS 'critical, high, medium, low, info or ok.';
COMMENT ON COLUMN advisor.finding_latest.subject_type IS 'cluster, broker, rack, topic, partition, group, member, coordinator, partitioner or plan.';
COMMENT ON COLUMN advisor.finding_latest.subject IS 'Which one.';
COMMENT ON COLUMN advisor.finding_latest.evidence IS 'Numbers, with units in the keys.';
COMMENT ON COLUMN advisor.finding_latest.recommendation IS 'What to do.';
COMMENT ON COLUMN advisor.finding_latest.cost IS 'What that costs.';
COMMENT ON COLUMN advisor.finding_latest.gain IS 'Share of the trouble that goes away (0 to 1).';
COMMENT ON COLUMN advisor.finding_latest.confidence IS 'measured, given, estimated or structural.';
