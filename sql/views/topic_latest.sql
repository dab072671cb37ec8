CREATE OR REPLACE VIEW advisor.topic_latest AS
SELECT
    newest.captured_at,
    newest.cluster,
    newest.snapshot_id,
    topic.topic,
    topic.topic_id,
    topic.is_internal,
    topic.partition_count,
    topic.configs
FROM store.newest_snapshot AS newest
JOIN store.topic
    ON topic.snapshot_key = newest.snapshot_key AND topic.captured_at = newest.captured_at;

COMMENT ON VIEW advisor.topic_latest IS 'Topics of the newest snapshot of each cluster.';
COMMENT ON COLUMN advisor.topic_latest.captured_at IS 'Time of the snapshot.';
COMMENT ON COLUMN advisor.topic_latest.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.topic_latest.snapshot_id IS 'sha256 of the snapshot''s content.';
COMMENT ON COLUMN advisor.topic_latest.topic IS 'Topic.';
COMMENT ON COLUMN advisor.topic_latest.topic_id IS 'Kafka''s id of the topic.';
COMMENT ON COLUMN advisor.topic_latest.is_internal IS 'Kafka''s own topic.';
COMMENT ON COLUMN advisor.topic_latest.partition_count IS 'Partitions.';
COMMENT ON COLUMN advisor.topic_latest.configs IS 'Topic configs that matter to advice.';
