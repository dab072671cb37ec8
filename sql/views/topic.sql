CREATE OR REPLACE VIEW advisor.topic AS
SELECT
    snapshot.time,
    snapshot.cluster,
    snapshot.snapshot_id,
    topic.topic,
    topic.topic_id,
    topic.is_internal,
    topic.partition_count,
    topic.configs
FROM store.snapshot
JOIN store.topic
    ON topic.snapshot_key = snapshot.snapshot_key AND topic.time = snapshot.time
WHERE snapshot.status = 'passed' AND NOT snapshot.is_pruned;
