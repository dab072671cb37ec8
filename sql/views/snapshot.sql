CREATE OR REPLACE VIEW advisor.snapshot AS
SELECT
    captured_at,
    cluster,
    snapshot_id,
    captured_at_text,
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

COMMENT ON VIEW advisor.snapshot IS 'Snapshots that passed the input gate; one row each.';
COMMENT ON COLUMN advisor.snapshot.captured_at IS 'Time of the snapshot.';
COMMENT ON COLUMN advisor.snapshot.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.snapshot.snapshot_id IS 'sha256 of the snapshot''s content.';
COMMENT ON COLUMN advisor.snapshot.captured_at_text IS 'Time of the snapshot in ISO 8601, in the zone of the input. NULL: the input has no time, and captured_at is the time of saving.';
COMMENT ON COLUMN advisor.snapshot.stored_at IS 'Time of saving.';
COMMENT ON COLUMN advisor.snapshot.source IS 'live, dumps, snapshot, cluster-model or reassignment.';
COMMENT ON COLUMN advisor.snapshot.cluster_id IS 'Kafka''s own id of the cluster.';
COMMENT ON COLUMN advisor.snapshot.kafka_version IS 'Kafka version, as far as the source names it.';
COMMENT ON COLUMN advisor.snapshot.broker_count IS 'Brokers, dead ones included.';
COMMENT ON COLUMN advisor.snapshot.topic_count IS 'Topics.';
COMMENT ON COLUMN advisor.snapshot.partition_count IS 'Partitions.';
COMMENT ON COLUMN advisor.snapshot.replica_count IS 'Replicas.';
COMMENT ON COLUMN advisor.snapshot.group_count IS 'Groups of every type.';
COMMENT ON COLUMN advisor.snapshot.member_count IS 'Listed members of all groups.';
COMMENT ON COLUMN advisor.snapshot.gap_count IS 'Coverage gaps (view coverage).';
COMMENT ON COLUMN advisor.snapshot.is_pruned IS 'Retention removed its rows; only this row is left.';
COMMENT ON COLUMN advisor.snapshot.features IS 'Finalized feature levels by name; NULL: unknown.';
COMMENT ON COLUMN advisor.snapshot.quotas IS 'Client quotas: [{entity: [[type, name or null]], values: {…}}, …].';
