CREATE OR REPLACE VIEW advisor.topic_latest AS
SELECT
    newest.time,
    newest.cluster,
    newest.snapshot_id,
    each.topic,
    each.topic_id,
    each.is_internal,
    each.partition_count,
    each.configs
FROM store.newest_snapshot AS newest
JOIN store.topic AS each
    ON each.snapshot_key = newest.snapshot_key AND each.time = newest.time;

COMMENT ON VIEW advisor.topic_latest IS 'Topics of the newest reading of each cluster.';
COMMENT ON COLUMN advisor.topic_latest.time IS 'When the cluster was read.';
COMMENT ON COLUMN advisor.topic_latest.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.topic_latest.snapshot_id IS 'sha256 of the reading''s content.';
COMMENT ON COLUMN advisor.topic_latest.topic IS 'Topic.';
COMMENT ON COLUMN advisor.topic_latest.topic_id IS 'Kafka''s id of the topic.';
COMMENT ON COLUMN advisor.topic_latest.is_internal IS 'Kafka''s own topic.';
COMMENT ON COLUMN advisor.topic_latest.partition_count IS 'Partitions.';
COMMENT ON COLUMN advisor.topic_latest.configs IS 'Topic configs that matter to advice.';
