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
    snapshot.gap_count
FROM store.newest_snapshot AS newest
JOIN store.snapshot ON snapshot.snapshot_key = newest.snapshot_key;

COMMENT ON VIEW advisor.snapshot_latest IS 'The newest reading of each cluster that passed the input gate.';
COMMENT ON COLUMN advisor.snapshot_latest.time IS 'When the cluster was read.';
COMMENT ON COLUMN advisor.snapshot_latest.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.snapshot_latest.snapshot_id IS 'sha256 of the reading''s content.';
COMMENT ON COLUMN advisor.snapshot_latest.captured_at IS 'The time of the reading in ISO 8601, in the zone that the input tells; NULL for input without one, whose time is when it was stored.';
COMMENT ON COLUMN advisor.snapshot_latest.stored_at IS 'When it was saved.';
COMMENT ON COLUMN advisor.snapshot_latest.source IS 'live, dumps, snapshot, cluster-model or reassignment.';
COMMENT ON COLUMN advisor.snapshot_latest.cluster_id IS 'Kafka''s own id of the cluster.';
COMMENT ON COLUMN advisor.snapshot_latest.kafka_version IS 'Version as far as it was told.';
COMMENT ON COLUMN advisor.snapshot_latest.broker_count IS 'Brokers, dead ones included.';
COMMENT ON COLUMN advisor.snapshot_latest.topic_count IS 'Topics.';
COMMENT ON COLUMN advisor.snapshot_latest.partition_count IS 'Partitions.';
COMMENT ON COLUMN advisor.snapshot_latest.replica_count IS 'Replicas.';
COMMENT ON COLUMN advisor.snapshot_latest.group_count IS 'Groups of every type.';
COMMENT ON COLUMN advisor.snapshot_latest.member_count IS 'Members of all groups.';
COMMENT ON COLUMN advisor.snapshot_latest.gap_count IS 'Things that could not be read: see coverage.';
