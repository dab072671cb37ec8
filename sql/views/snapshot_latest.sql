CREATE OR REPLACE VIEW advisor.snapshot_latest AS
SELECT
    newest.time,
    newest.cluster,
    snapshot.snapshot_id,
    snapshot.captured_at,
    snapshot.stored_at,
    snapshot.source,
    snapshot.cluster_id,
    snapshot.kafka_version,
    snapshot.broker_count,
    snapshot.topic_count,
    snapshot.partition_count,
    snapshot.replica_count,
    snapshot.group_count,
    snapshot.member_count,
    snapshot.gap_count,
    snapshot.features,
    snapshot.quotas
FROM store.newest_snapshot AS newest
JOIN store.snapshot ON snapshot.snapshot_key = newest.snapshot_key;
