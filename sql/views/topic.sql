CREATE OR REPLACE VIEW advisor.topic AS
SELECT
    snapshot.time,
    snapshot.cluster,
    snapshot.snapshot_id,
    each.topic,
    each.topic_id,
    each.is_internal,
    each.partition_count,
    each.configs
FROM store.snapshot
JOIN store.topic AS each
    ON each.snapshot_key = snapshot.snapshot_key AND each.time = snapshot.time
WHERE snapshot.status = 'passed';

COMMENT ON VIEW advisor.topic IS 'Topics of every reading.';
COMMENT ON COLUMN advisor.topic.time IS 'When the cluster was read.';
COMMENT ON COLUMN advisor.topic.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.topic.snapshot_id IS 'sha256 of the reading''s content.';
COMMENT ON COLUMN advisor.topic.topic IS 'Topic.';
COMMENT ON COLUMN advisor.topic.topic_id IS 'Kafka''s id of the topic.';
COMMENT ON COLUMN advisor.topic.is_internal IS 'Kafka''s own topic.';
COMMENT ON COLUMN advisor.topic.partition_count IS 'Partitions.';
COMMENT ON COLUMN advisor.topic.configs IS 'Topic configs that matter to advice.';
