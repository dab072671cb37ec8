CREATE OR REPLACE VIEW advisor.topic_score AS
SELECT
    run.started_at,
    run.cluster,
    run.run_id,
    topic_score.topic,
    topic_score.placer,
    topic_score.seed,
    topic_score.replica_skew,
    topic_score.leader_skew,
    topic_score.disk_skew,
    topic_score.replica_moves,
    topic_score.leader_changes,
    topic_score.bytes_to_move,
    topic_score.rack_violations
FROM store.run
JOIN store.topic_score
    ON topic_score.run_key = run.run_key AND topic_score.started_at = run.started_at
WHERE run.status = 'published';

COMMENT ON VIEW advisor.topic_score IS 'Kafka''s own placers, re-run on each topic, beside the current placement, in every published advisory.';
COMMENT ON COLUMN advisor.topic_score.started_at IS 'Start of the advisory.';
COMMENT ON COLUMN advisor.topic_score.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.topic_score.run_id IS 'Id of the advisory.';
COMMENT ON COLUMN advisor.topic_score.topic IS 'Topic.';
COMMENT ON COLUMN advisor.topic_score.placer IS 'current, or the placer that was re-run.';
COMMENT ON COLUMN advisor.topic_score.seed IS 'Seed of that re-run.';
COMMENT ON COLUMN advisor.topic_score.replica_skew IS 'Skew of replica counts over brokers.';
COMMENT ON COLUMN advisor.topic_score.leader_skew IS 'Skew of leader counts over brokers.';
COMMENT ON COLUMN advisor.topic_score.disk_skew IS 'Skew of bytes over brokers; NULL where sizes are unknown.';
COMMENT ON COLUMN advisor.topic_score.replica_moves IS 'Replicas that differ from the current placement.';
COMMENT ON COLUMN advisor.topic_score.leader_changes IS 'Preferred leaders that differ from the current placement.';
COMMENT ON COLUMN advisor.topic_score.bytes_to_move IS 'Bytes that this would copy; NULL where sizes are unknown.';
COMMENT ON COLUMN advisor.topic_score.rack_violations IS 'Partitions with two replicas in one rack although there are enough racks.';
