CREATE OR REPLACE VIEW advisor.partition AS
SELECT
    snapshot.time,
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
    ON partition.snapshot_key = snapshot.snapshot_key AND partition.time = snapshot.time
WHERE snapshot.status = 'passed' AND NOT snapshot.is_pruned;
