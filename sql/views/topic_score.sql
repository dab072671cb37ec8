CREATE OR REPLACE VIEW advisor.topic_score AS
SELECT
    run.time,
    run.cluster,
    run.run_id,
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
FROM store.run
JOIN store.topic_score AS each
    ON each.run_key = run.run_key AND each.time = run.time
WHERE run.status = 'published';

COMMENT ON VIEW advisor.topic_score IS 'Kafka''s own placers re-run on each topic beside the placement of today, in every published advisory.';
COMMENT ON COLUMN advisor.topic_score.time IS 'When the advisory was started.';
COMMENT ON COLUMN advisor.topic_score.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.topic_score.run_id IS 'The advisory that says so.';
COMMENT ON COLUMN advisor.topic_score.topic IS 'Topic.';
COMMENT ON COLUMN advisor.topic_score.placer IS 'current, or the placer that was re-run.';
COMMENT ON COLUMN advisor.topic_score.seed IS 'Seed of that re-run.';
COMMENT ON COLUMN advisor.topic_score.replica_skew IS 'Skew of replica counts over brokers.';
COMMENT ON COLUMN advisor.topic_score.leader_skew IS 'Skew of leader counts over brokers.';
COMMENT ON COLUMN advisor.topic_score.disk_skew IS 'Skew of bytes over brokers; NULL where sizes are unknown.';
COMMENT ON COLUMN advisor.topic_score.replica_moves IS 'Replicas that differ from today.';
COMMENT ON COLUMN advisor.topic_score.leader_changes IS 'Preferred leaders that differ from today.';
COMMENT ON COLUMN advisor.topic_score.bytes_to_move IS 'Bytes that this would copy; NULL where sizes are unknown.';
COMMENT ON COLUMN advisor.topic_score.rack_violations IS 'Partitions with replicas in one rack though racks would suffice.';
