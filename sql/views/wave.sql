CREATE OR REPLACE VIEW advisor.wave AS
SELECT
    run.time,
    run.cluster,
    run.run_id,
    wave.direction,
    wave.wave,
    wave.move_count,
    wave.bytes,
    wave.seconds,
    wave.throttle_bytes_per_s,
    wave.free_disk_needed
FROM store.run
JOIN store.wave
    ON wave.run_key = run.run_key
WHERE run.status = 'published';
