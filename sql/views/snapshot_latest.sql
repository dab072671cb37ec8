CREATE OR REPLACE VIEW advisor.snapshot_latest AS
SELECT
    newest.captured_at,
    newest.cluster,
    snapshot.snapshot_id,
    snapshot.captured_at_text,
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

COMMENT ON VIEW advisor.snapshot_latest IS 'The newest snapshot of each cluster that passed the input gate.';
COMMENT ON COLUMN advisor.snapshot_latest.captured_at IS 'Time of the snapshot.';
COMMENT ON COLUMN advisor.snapshot_latest.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.snapshot_latest.snapshot_id IS 'sha256 of the snapshot''s content.';
COMMENT ON COLUMN advisor.snapshot_latest.captured_at_text IS 'Time of the snapshot in ISO 8601, in the zone of the input. NULL: the input has no time, and captured_at is the time of saving.';
COMMENT ON COLUMN advisor.snapshot_latest.stored_at IS 'Time of saving.';
COMMENT ON COLUMN advisor.snapshot_latest.source IS 'live, dumps, snapshot, cluster-model or reassignment.';
COMMENT ON COLUMN advisor.snapshot_latest.cluster_id IS 'Kafka''s own id of the cluster.';
COMMENT ON COLUMN advisor.snapshot_latest.kafka_version IS 'Kafka version, as far as the source names it.';
COMMENT ON COLUMN advisor.snapshot_latest.broker_count IS 'Brokers, dead ones included.';
COMMENT ON COLUMN advisor.snapshot_latest.topic_count IS 'Topics.';
COMMENT ON COLUMN advisor.snapshot_latest.partition_count IS 'Partitions.';
COMMENT ON COLUMN advisor.snapshot_latest.replica_count IS 'Replicas.';
COMMENT ON COLUMN advisor.snapshot_latest.group_count IS 'Groups of every type.';
COMMENT ON COLUMN advisor.snapshot_latest.member_count IS 'Listed members of all groups.';
COMMENT ON COLUMN advisor.snapshot_latest.gap_count IS 'Coverage gaps (view coverage).';
COMMENT ON COLUMN advisor.snapshot_latest.features IS 'Finalized feature levels by name; NULL: unknown.';
COMMENT ON COLUMN advisor.snapshot_latest.quotas IS 'Client quotas: [{entity: [[type, name or null]], values: {…}}, …].';
