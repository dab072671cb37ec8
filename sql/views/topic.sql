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
