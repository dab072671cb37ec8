CREATE OR REPLACE VIEW advisor.topic AS
SELECT
    snapshot.captured_at,
    snapshot.cluster,
    snapshot.snapshot_id,
    topic.topic,
    topic.topic_id,
    topic.is_internal,
    topic.partition_count,
    topic.configs
FROM store.snapshot
JOIN store.topic
    ON topic.snapshot_key = snapshot.snapshot_key AND topic.captured_at = snapshot.captured_at
WHERE snapshot.status = 'passed' AND NOT snapshot.is_pruned;

COMMENT ON VIEW advisor.topic IS 'Topics of every snapshot.';
COMMENT ON COLUMN advisor.topic.captured_at IS 'Time of the snapshot.';
COMMENT ON COLUMN advisor.topic.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.topic.snapshot_id IS 'sha256 of the snapshot''s content.';
COMMENT ON COLUMN advisor.topic.topic IS 'Topic.';
COMMENT ON COLUMN advisor.topic.topic_id IS 'Kafka''s id of the topic.';
COMMENT ON COLUMN advisor.topic.is_internal IS 'Kafka''s own topic.';
COMMENT ON COLUMN advisor.topic.partition_count IS 'Partitions.';
COMMENT ON COLUMN advisor.topic.configs IS 'Topic configs that matter to advice.';
