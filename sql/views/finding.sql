CREATE OR REPLACE VIEW advisor.finding AS
SELECT
    run.started_at,
    run.cluster,
    run.run_id,
    finding.position AS rank,
    finding.finding_key,
    finding.code,
    finding.severity,
    finding.subject_type,
    finding.subject,
    finding.evidence,
    finding.recommendation_code,
    finding.recommendation_args,
    finding.actor,
    finding.cost_code,
    finding.cost_args,
    finding.gain,
    finding.confidence,
    finding.team,
    finding.channel,
    finding.tier,
    finding.muted_until,
    finding.mute_reason
FROM store.run
JOIN store.finding
    ON finding.run_key = run.run_key
WHERE run.status = 'published';

COMMENT ON VIEW advisor.finding IS 'Findings of every published advisory; one row a finding.';
COMMENT ON COLUMN advisor.finding.started_at IS 'Start of the advisory.';
COMMENT ON COLUMN advisor.finding.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.finding.run_id IS 'Id of the advisory.';
COMMENT ON COLUMN advisor.finding.rank IS 'Rank; 1 is the most important finding.';
COMMENT ON COLUMN advisor.finding.finding_key IS 'Key of the finding; equal in every advisory.';
COMMENT ON COLUMN advisor.finding.code IS 'Code of the finding.';
COMMENT ON COLUMN advisor.finding.severity IS 'critical, high, medium, low, info or ok.';
COMMENT ON COLUMN advisor.finding.subject_type IS 'cluster, broker, rack, topic, partition, group, member, coordinator, partitioner or plan.';
COMMENT ON COLUMN advisor.finding.subject IS 'Name or id of the subject.';
COMMENT ON COLUMN advisor.finding.evidence IS 'Numbers, with units in the keys.';
COMMENT ON COLUMN advisor.finding.recommendation_code IS 'Recommended action: code of a fact.';
COMMENT ON COLUMN advisor.finding.recommendation_args IS 'Arguments of that fact.';
COMMENT ON COLUMN advisor.finding.actor IS 'Who settles it: plan (of this advisory), operator (of the cluster), owner (of the group, or of clients) or none (nothing has to be done).';
COMMENT ON COLUMN advisor.finding.cost_code IS 'Cost of that action: code of a fact; NULL: none is known.';
COMMENT ON COLUMN advisor.finding.cost_args IS 'Arguments of that fact.';
COMMENT ON COLUMN advisor.finding.gain IS 'Share of the problem that the action removes (0 to 1).';
COMMENT ON COLUMN advisor.finding.confidence IS 'measured, given, estimated or structural.';
COMMENT ON COLUMN advisor.finding.team IS 'Team that owns the subject; NULL: no rule names one.';
COMMENT ON COLUMN advisor.finding.channel IS 'Channel of that team.';
COMMENT ON COLUMN advisor.finding.tier IS 'Tier of the subject, 0 to 9, as the team sets it.';
COMMENT ON COLUMN advisor.finding.muted_until IS 'End of the mute; NULL: not muted.';
COMMENT ON COLUMN advisor.finding.mute_reason IS 'Reason of the mute.';
