CREATE OR REPLACE VIEW advisor.wave_latest AS
SELECT
    newest.started_at,
    newest.cluster,
    newest.run_id,
    wave.direction,
    wave.wave,
    wave.step,
    wave.move_count,
    wave.bytes,
    wave.seconds,
    wave.throttle_bytes_per_s,
    wave.free_disk_needed
FROM store.newest_run AS newest
JOIN store.wave
    ON wave.run_key = newest.run_key;

COMMENT ON VIEW advisor.wave_latest IS 'Waves of the plan and of its rollback, of the newest published advisory of each cluster.';
COMMENT ON COLUMN advisor.wave_latest.started_at IS 'Start of the advisory.';
COMMENT ON COLUMN advisor.wave_latest.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.wave_latest.run_id IS 'Id of the advisory.';
COMMENT ON COLUMN advisor.wave_latest.direction IS 'forward or rollback.';
COMMENT ON COLUMN advisor.wave_latest.wave IS 'Number from 1, as in the file names; rollback 1 undoes the last wave.';
COMMENT ON COLUMN advisor.wave_latest.step IS 'Step of the plan that the wave belongs to, or that it undoes; NULL where the plan has no steps.';
COMMENT ON COLUMN advisor.wave_latest.move_count IS 'Partitions that change in the wave.';
COMMENT ON COLUMN advisor.wave_latest.bytes IS 'Bytes that are copied; NULL where sizes are unknown.';
COMMENT ON COLUMN advisor.wave_latest.seconds IS 'Busiest broker''s bytes over the throttle.';
COMMENT ON COLUMN advisor.wave_latest.throttle_bytes_per_s IS 'Throttle.';
COMMENT ON COLUMN advisor.wave_latest.free_disk_needed IS 'Bytes by broker while both copies exist.';
