CREATE OR REPLACE VIEW advisor.log_dir AS
SELECT
    snapshot.time,
    snapshot.cluster,
    snapshot.snapshot_id,
    log_dir.broker,
    log_dir.path,
    log_dir.total_bytes,
    log_dir.usable_bytes,
    log_dir.error,
    log_dir.is_cordoned,
    log_dir.stray_logs,
    log_dir.stray_bytes,
    log_dir.largest_stray
FROM store.snapshot
JOIN store.log_dir
    ON log_dir.snapshot_key = snapshot.snapshot_key AND log_dir.time = snapshot.time
WHERE snapshot.status = 'passed' AND NOT snapshot.is_pruned;
