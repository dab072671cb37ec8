CREATE OR REPLACE VIEW advisor.topic_score_latest AS
SELECT
    newest.time,
    newest.cluster,
    newest.run_id,
    each.topic,
    each.placer,
    each.seed,
    each.replica_skew,
    each.leader_skew,
    each.disk_skew,
    each.replica_moves,
    each.leader_changes,
    each.bytes_to_move,
    each.rack_violations
FROM store.newest_run AS newest
JOIN store.topic_score AS each
    ON each.run_key = newest.run_key AND each.time = newest.time;

COMMENT ON VIEW advisor.topic_score_latest IS 'Kafka''s own placers re-run on each topic beside the placement of today, of the newest published advisory of each cluster.';
COMMENT ON COLUMN advisor.topic_score_latest.time IS 'When the advisory was started.';
COMMENT ON COLUMN advisor.topic_score_latest.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.topic_score_latest.run_id IS 'The advisory that says so.';
COMMENT ON COLUMN advisor.topic_score_latest.topic IS 'Topic.';
COMMENT ON COLUMN advisor.topic_score_latest.placer IS 'current, or the placer that was re-run.';
COMMENT ON COLUMN advisor.topic_score_latest.seed IS 'Seed of that re-run.';
COMMENT ON COLUMN advisor.topic_score_latest.replica_skew IS 'Skew of replica counts over brokers.';
COMMENT ON COLUMN advisor.topic_score_latest.leader_skew IS 'Skew of leader counts over brokers.';
COMMENT ON COLUMN advisor.topic_score_latest.disk_skew IS 'Skew of bytes over brokers; NULL where sizes are unknown.';
COMMENT ON COLUMN advisor.topic_score_latest.replica_moves IS 'Replicas that differ from today.';
COMMENT ON COLUMN advisor.topic_score_latest.leader_changes IS 'Preferred leaders that differ from today.';
COMMENT ON COLUMN advisor.topic_score_latest.bytes_to_move IS 'Bytes that this would copy; NULL where sizes are unknown.';
COMMENT ON COLUMN advisor.topic_score_latest.rack_violations IS 'Partitions with replicas in one rack though racks would suffice.';
