CREATE OR REPLACE VIEW advisor.partition_latest AS
SELECT
    newest.captured_at,
    newest.cluster,
    newest.snapshot_id,
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
FROM store.newest_snapshot AS newest
JOIN store.partition
    ON partition.snapshot_key = newest.snapshot_key AND partition.captured_at = newest.captured_at;

COMMENT ON VIEW advisor.partition_latest IS 'Placement of the newest snapshot of each cluster; one row a partition.';
COMMENT ON COLUMN advisor.partition_latest.captured_at IS 'Time of the snapshot.';
COMMENT ON COLUMN advisor.partition_latest.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.partition_latest.snapshot_id IS 'sha256 of the snapshot''s content.';
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
COMMENT ON COLUMN advisor.partition_latest.eligible IS 'Replicas that may lead without being in the ISR (KIP-966).';
COMMENT ON COLUMN advisor.partition_latest.log_dirs IS 'Index of each replica''s log dir among its broker''s, by path; NULL where all brokers have one.';
COMMENT ON COLUMN advisor.partition_latest.future IS 'Copies under way to another log dir: [[broker, log dir, bytes], …].';
COMMENT ON COLUMN advisor.partition_latest.local_start_offset IS 'First offset on local disks; of tiered topics.';
