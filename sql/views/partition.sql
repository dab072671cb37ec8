CREATE OR REPLACE VIEW advisor.partition AS
SELECT
    snapshot.captured_at,
    snapshot.cluster,
    snapshot.snapshot_id,
    partition.topic,
    partition.partition,
    partition.replicas,
    partition.leader,
    partition.isr,
    partition.log_bytes,
    partition.start_offset,
    partition.end_offset,
    partition.adding,
    partition.removing,
    partition.offline,
    partition.observers,
    partition.eligible,
    partition.log_dirs,
    partition.future,
    partition.local_start_offset
FROM store.snapshot
JOIN store.partition
    ON partition.snapshot_key = snapshot.snapshot_key AND partition.captured_at = snapshot.captured_at
WHERE snapshot.status = 'passed' AND NOT snapshot.is_pruned;

COMMENT ON VIEW advisor.partition IS 'Placement in every snapshot; one row a partition. Always filter by one snapshot_id or a short range of captured_at.';
COMMENT ON COLUMN advisor.partition.captured_at IS 'Time of the snapshot.';
COMMENT ON COLUMN advisor.partition.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.partition.snapshot_id IS 'sha256 of the snapshot''s content.';
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
COMMENT ON COLUMN advisor.partition.eligible IS 'Replicas that may lead without being in the ISR (KIP-966).';
COMMENT ON COLUMN advisor.partition.log_dirs IS 'Index of each replica''s log dir among its broker''s, by path; NULL where all brokers have one.';
COMMENT ON COLUMN advisor.partition.future IS 'Copies under way to another log dir: [[broker, log dir, bytes], …].';
COMMENT ON COLUMN advisor.partition.local_start_offset IS 'First offset on local disks; of tiered topics.';
