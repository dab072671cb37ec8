CREATE OR REPLACE VIEW advisor.partition_latest AS
SELECT
    newest.time,
    newest.cluster,
    newest.snapshot_id,
    each.topic,
    each.partition,
    each.replicas,
    each.leader,
    each.isr,
    each.log_bytes,
    each.start_offset,
    each.end_offset,
    each.adding,
    each.removing,
    each.offline,
    each.observers
FROM store.newest_snapshot AS newest
JOIN store.partition AS each
    ON each.snapshot_key = newest.snapshot_key AND each.time = newest.time;

COMMENT ON VIEW advisor.partition_latest IS 'Placement of the newest reading of each cluster; one row a partition.';
COMMENT ON COLUMN advisor.partition_latest.time IS 'When the cluster was read.';
COMMENT ON COLUMN advisor.partition_latest.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.partition_latest.snapshot_id IS 'sha256 of the reading''s content.';
COMMENT ON COLUMN advisor.partition_latest.topic IS 'Topic.';
COMMENT ON COLUMN advisor.partition_latest.partition IS 'Partition.';
COMMENT ON COLUMN advisor.partition_latest.replicas IS 'Broker ids in Kafka''s order, the preferred leader first; while a reassignment runs, the union.';
COMMENT ON COLUMN advisor.partition_latest.leader IS 'Leader; NULL: none.';
COMMENT ON COLUMN advisor.partition_latest.isr IS 'In-sync replicas; NULL where unknown.';
COMMENT ON COLUMN advisor.partition_latest.log_bytes IS 'Size of each replica, along replicas; NULL where unknown.';
COMMENT ON COLUMN advisor.partition_latest.start_offset IS 'First offset kept.';
COMMENT ON COLUMN advisor.partition_latest.end_offset IS 'Next offset to be written.';
COMMENT ON COLUMN advisor.partition_latest.adding IS 'Replicas that a running reassignment adds.';
COMMENT ON COLUMN advisor.partition_latest.removing IS 'Replicas that a running reassignment removes.';
COMMENT ON COLUMN advisor.partition_latest.offline IS 'Replicas that are offline.';
COMMENT ON COLUMN advisor.partition_latest.observers IS 'Replicas that are Confluent''s observers: never needed in the ISR, never leading.';
