CREATE OR REPLACE VIEW advisor.wave AS
SELECT
    run.started_at,
    run.cluster,
    run.run_id,
    wave.direction,
    wave.wave,
    wave.step,
    wave.move_count,
    wave.bytes,
    wave.seconds,
    wave.throttle_bytes_per_s,
    wave.free_disk_needed
FROM store.run
JOIN store.wave
    ON wave.run_key = run.run_key
WHERE run.status = 'published';

COMMENT ON VIEW advisor.wave IS 'Waves of every published plan and of its rollback.';
COMMENT ON COLUMN advisor.wave.started_at IS 'Start of the advisory.';
COMMENT ON COLUMN advisor.wave.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.wave.run_id IS 'Id of the advisory.';
COMMENT ON COLUMN advisor.wave.direction IS 'forward or rollback.';
COMMENT ON COLUMN advisor.wave.wave IS 'Number from 1, as in the file names; rollback 1 undoes the last wave.';
COMMENT ON COLUMN advisor.wave.step IS 'Step of the plan that the wave belongs to, or that it undoes; NULL where the plan has no steps.';
COMMENT ON COLUMN advisor.wave.move_count IS 'Partitions that change in the wave.';
COMMENT ON COLUMN advisor.wave.bytes IS 'Bytes that are copied; NULL where sizes are unknown.';
COMMENT ON COLUMN advisor.wave.seconds IS 'Busiest broker''s bytes over the throttle.';
COMMENT ON COLUMN advisor.wave.throttle_bytes_per_s IS 'Throttle.';
COMMENT ON COLUMN advisor.wave.free_disk_needed IS 'Bytes by broker while both copies exist.';
