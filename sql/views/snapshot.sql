CREATE OR REPLACE VIEW advisor.snapshot AS
SELECT
    time,
    cluster,
    snapshot_id,
    captured_at,
    stored_at,
    source,
    cluster_id,
    kafka_version,
    broker_count,
    topic_count,
    partition_count,
    replica_count,
    group_count,
    member_count,
    gap_count,
    is_pruned,
    features,
    quotas
FROM store.snapshot
WHERE status = 'passed';
