CREATE OR REPLACE VIEW advisor.wave AS
SELECT
    run.time,
    run.cluster,
    run.run_id,
    each.direction,
    each.wave,
    each.move_count,
    each.bytes,
    each.seconds,
    each.throttle_bytes_per_s,
    each.free_disk_needed
FROM store.run
JOIN store.wave AS each
    ON each.run_key = run.run_key
WHERE run.status = 'published';
