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
    is_pruned
FROM store.snapshot
WHERE status = 'passed';

COMMENT ON VIEW advisor.snapshot IS 'Readings that passed the input gate; one row each.';
COMMENT ON COLUMN advisor.snapshot.time IS 'When the cluster was read.';
COMMENT ON COLUMN advisor.snapshot.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.snapshot.snapshot_id IS 'sha256 of the reading''s content.';
COMMENT ON COLUMN advisor.snapshot.captured_at IS 'The time of the reading in ISO 8601, in the zone that the input tells; NULL for input without one, whose time is when it was stored.';
COMMENT ON COLUMN advisor.snapshot.stored_at IS 'When it was saved.';
COMMENT ON COLUMN advisor.snapshot.source IS 'live, dumps, snapshot, cluster-model or reassignment.';
COMMENT ON COLUMN advisor.snapshot.cluster_id IS 'Kafka''s own id of the cluster.';
COMMENT ON COLUMN advisor.snapshot.kafka_version IS 'Version as far as it was told.';
COMMENT ON COLUMN advisor.snapshot.broker_count IS 'Brokers, dead ones included.';
COMMENT ON COLUMN advisor.snapshot.topic_count IS 'Topics.';
COMMENT ON COLUMN advisor.snapshot.partition_count IS 'Partitions.';
COMMENT ON COLUMN advisor.snapshot.replica_count IS 'Replicas.';
COMMENT ON COLUMN advisor.snapshot.group_count IS 'Groups of every type.';
COMMENT ON COLUMN advisor.snapshot.member_count IS 'Members of all groups.';
COMMENT ON COLUMN advisor.snapshot.gap_count IS 'Things that could not be read: see coverage.';
COMMENT ON COLUMN advisor.snapshot.is_pruned IS 'Its rows were removed by retention; only this line is left.';
