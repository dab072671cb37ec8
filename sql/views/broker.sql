CREATE OR REPLACE VIEW advisor.broker AS
SELECT
    snapshot.time,
    snapshot.cluster,
    snapshot.snapshot_id,
    broker.broker,
    broker.rack,
    broker.host,
    broker.port,
    broker.state,
    broker.is_controller,
    broker.capacity_disk_bytes,
    broker.capacity_in_bytes_per_s,
    broker.capacity_out_bytes_per_s,
    broker.capacity_cpu_percent,
    broker.configs
FROM store.snapshot
JOIN store.broker
    ON broker.snapshot_key = snapshot.snapshot_key AND broker.time = snapshot.time
WHERE snapshot.status = 'passed' AND NOT snapshot.is_pruned;
