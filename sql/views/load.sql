CREATE OR REPLACE VIEW advisor.load AS
SELECT
    snapshot.time,
    snapshot.cluster,
    snapshot.snapshot_id,
    load.topic,
    load.partition,
    load.log_bytes,
    load.in_bytes_per_s,
    load.out_bytes_per_s,
    load.cpu_percent,
    load.in_messages_per_s
FROM store.snapshot
JOIN store.load
    ON load.snapshot_key = snapshot.snapshot_key AND load.time = snapshot.time
WHERE snapshot.status = 'passed' AND NOT snapshot.is_pruned;
