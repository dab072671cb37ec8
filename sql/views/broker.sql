CREATE OR REPLACE VIEW advisor.broker AS
SELECT
    snapshot.time,
    snapshot.cluster,
    snapshot.snapshot_id,
    each.broker,
    each.rack,
    each.host,
    each.port,
    each.state,
    each.is_controller,
    each.capacity_disk_bytes,
    each.capacity_in_bytes_per_s,
    each.capacity_out_bytes_per_s,
    each.capacity_cpu_percent,
    each.configs
FROM store.snapshot
JOIN store.broker AS each
    ON each.snapshot_key = snapshot.snapshot_key AND each.time = snapshot.time
WHERE snapshot.status = 'passed';
