CREATE OR REPLACE VIEW advisor.topic_score_latest AS
SELECT
    newest.started_at,
    newest.cluster,
    newest.run_id,
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
FROM store.newest_run AS newest
JOIN store.topic_score
    ON topic_score.run_key = newest.run_key AND topic_score.started_at = newest.started_at;

COMMENT ON VIEW advisor.topic_score_latest IS 'Kafka''s own placers, re-run on each topic, beside the current placement, of the newest published advisory of each cluster.';
COMMENT ON COLUMN advisor.topic_score_latest.started_at IS 'Start of the advisory.';
COMMENT ON COLUMN advisor.topic_score_latest.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.topic_score_latest.run_id IS 'Id of the advisory.';
COMMENT ON COLUMN advisor.topic_score_latest.topic IS 'Topic.';
COMMENT ON COLUMN advisor.topic_score_latest.placer IS 'current, or the placer that was re-run.';
COMMENT ON COLUMN advisor.topic_score_latest.seed IS 'Seed of that re-run.';
COMMENT ON COLUMN advisor.topic_score_latest.replica_skew IS 'Skew of replica counts over brokers.';
COMMENT ON COLUMN advisor.topic_score_latest.leader_skew IS 'Skew of leader counts over brokers.';
COMMENT ON COLUMN advisor.topic_score_latest.disk_skew IS 'Skew of bytes over brokers; NULL where sizes are unknown.';
COMMENT ON COLUMN advisor.topic_score_latest.replica_moves IS 'Replicas that differ from the current placement.';
COMMENT ON COLUMN advisor.topic_score_latest.leader_changes IS 'Preferred leaders that differ from the current placement.';
COMMENT ON COLUMN advisor.topic_score_latest.bytes_to_move IS 'Bytes that this would copy; NULL where sizes are unknown.';
COMMENT ON COLUMN advisor.topic_score_latest.rack_violations IS 'Partitions with two replicas in one rack although there are enough racks.';
