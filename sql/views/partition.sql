CREATE OR REPLACE VIEW advisor.partition AS
SELECT
    snapshot.time,
    snapshot.cluster,
    snapshot.snapshot_id,
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
FROM store.snapshot
JOIN store.partition AS each
    ON each.snapshot_key = snapshot.snapshot_key AND each.time = snapshot.time
WHERE snapshot.status = 'passed';

COMMENT ON VIEW advisor.partition IS 'Placement of every reading; one row a partition. Always ask for one snapshot_id or a narrow time.';
COMMENT ON COLUMN advisor.partition.time IS 'When the cluster was read.';
COMMENT ON COLUMN advisor.partition.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.partition.snapshot_id IS 'sha256 of the reading''s content.';
COMMENT ON COLUMN advisor.partition.topic IS 'Topic.';
COMMENT ON COLUMN advisor.partition.partition IS 'Partition.';
COMMENT ON COLUMN advisor.partition.replicas IS 'Broker ids in Kafka''s order, the preferred leader first; while a reassignment runs, the union.';
COMMENT ON COLUMN advisor.partition.leader IS 'Leader; NULL: none.';
COMMENT ON COLUMN advisor.partition.isr IS 'In-sync replicas; NULL where unknown.';
COMMENT ON COLUMN advisor.partition.log_bytes IS 'Size of each replica, along replicas; NULL where unknown.';
COMMENT ON COLUMN advisor.partition.start_offset IS 'First offset kept.';
COMMENT ON COLUMN advisor.partition.end_offset IS 'Next offset to be written.';
COMMENT ON COLUMN advisor.partition.adding IS 'Replicas that a running reassignment adds.';
COMMENT ON COLUMN advisor.partition.removing IS 'Replicas that a running reassignment removes.';
COMMENT ON COLUMN advisor.partition.offline IS 'Replicas that are offline.';
COMMENT ON COLUMN advisor.partition.observers IS 'Replicas that are Confluent''s observers: never needed in the ISR, never leading.';
