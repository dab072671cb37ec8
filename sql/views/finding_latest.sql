CREATE OR REPLACE VIEW advisor.finding_latest AS
SELECT
    newest.started_at,
    newest.cluster,
    newest.run_id,
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
FROM store.newest_run AS newest
JOIN store.finding
    ON finding.run_key = newest.run_key;

COMMENT ON VIEW advisor.finding_latest IS 'Findings of the newest published advisory of each cluster.';
COMMENT ON COLUMN advisor.finding_latest.started_at IS 'Start of the advisory.';
COMMENT ON COLUMN advisor.finding_latest.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.finding_latest.run_id IS 'Id of the advisory.';
COMMENT ON COLUMN advisor.finding_latest.rank IS 'Rank; 1 is the most important finding.';
COMMENT ON COLUMN advisor.finding_latest.finding_key IS 'Key of the finding; equal in every advisory.';
COMMENT ON COLUMN advisor.finding_latest.code IS 'Code of the finding.';
COMMENT ON COLUMN advisor.finding_latest.severity IS 'critical, high, medium, low, info or ok.';
COMMENT ON COLUMN advisor.finding_latest.subject_type IS 'cluster, broker, rack, topic, partition, group, member, coordinator, partitioner or plan.';
COMMENT ON COLUMN advisor.finding_latest.subject IS 'Name or id of the subject.';
COMMENT ON COLUMN advisor.finding_latest.evidence IS 'Numbers, with units in the keys.';
COMMENT ON COLUMN advisor.finding_latest.recommendation_code IS 'Recommended action: code of a fact.';
COMMENT ON COLUMN advisor.finding_latest.recommendation_args IS 'Arguments of that fact.';
COMMENT ON COLUMN advisor.finding_latest.actor IS 'Who settles it: plan (of this advisory), operator (of the cluster), owner (of the group, or of clients) or none (nothing has to be done).';
COMMENT ON COLUMN advisor.finding_latest.cost_code IS 'Cost of that action: code of a fact; NULL: none is known.';
COMMENT ON COLUMN advisor.finding_latest.cost_args IS 'Arguments of that fact.';
COMMENT ON COLUMN advisor.finding_latest.gain IS 'Share of the problem that the action removes (0 to 1).';
COMMENT ON COLUMN advisor.finding_latest.confidence IS 'measured, given, estimated or structural.';
COMMENT ON COLUMN advisor.finding_latest.team IS 'Team that owns the subject; NULL: no rule names one.';
COMMENT ON COLUMN advisor.finding_latest.channel IS 'Channel of that team.';
COMMENT ON COLUMN advisor.finding_latest.tier IS 'Tier of the subject, 0 to 9, as the team sets it.';
COMMENT ON COLUMN advisor.finding_latest.muted_until IS 'End of the mute; NULL: not muted.';
COMMENT ON COLUMN advisor.finding_latest.mute_reason IS 'Reason of the mute.';
