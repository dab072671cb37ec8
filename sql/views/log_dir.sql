CREATE OR REPLACE VIEW advisor.log_dir AS
SELECT
    snapshot.time,
    snapshot.cluster,
    snapshot.snapshot_id,
    each.broker,
    each.path,
    each.total_bytes,
    each.usable_bytes,
    each.error,
    each.is_cordoned
FROM store.snapshot
JOIN store.log_dir AS each
    ON each.snapshot_key = snapshot.snapshot_key AND each.time = snapshot.time
WHERE snapshot.status = 'passed';
