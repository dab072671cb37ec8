CREATE OR REPLACE VIEW advisor.finding AS
SELECT
    run.time,
    run.cluster,
    run.run_id,
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
FROM store.run
JOIN store.finding AS each
    ON each.run_key = run.run_key
WHERE run.status = 'published';

COMMENT ON VIEW advisor.finding IS 'Findings of every published advisory; one row a finding.';
COMMENT ON COLUMN advisor.finding.time IS 'When the advisory was started.';
COMMENT ON COLUMN advisor.finding.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.finding.run_id IS 'The advisory that says so.';
COMMENT ON COLUMN advisor.finding.rank IS '1 is the first to look at.';
COMMENT ON COLUMN advisor.finding.finding_key IS 'The same for the same trouble in every advisory.';
COMMENT ON COLUMN advisor.finding.code IS 'Kind of trouble (registry of codes).';
COMMENT ON COLUMN advisor.finding.severity IS 'critical, high, medium, low, info or ok.';
COMMENT ON COLUMN advisor.finding.subject_type IS 'cluster, broker, rack, topic, partition, group, member, coordinator, partitioner or plan.';
COMMENT ON COLUMN advisor.finding.subject IS 'Which one.';
COMMENT ON COLUMN advisor.finding.evidence IS 'Numbers, with units in the keys.';
COMMENT ON COLUMN advisor.finding.recommendation IS 'What to do.';
COMMENT ON COLUMN advisor.finding.cost IS 'What that costs.';
COMMENT ON COLUMN advisor.finding.gain IS 'Share of the trouble that goes away (0 to 1).';
COMMENT ON COLUMN advisor.finding.confidence IS 'measured, given, estimated or structural.';
