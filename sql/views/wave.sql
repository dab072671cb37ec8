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

COMMENT ON VIEW advisor.wave IS 'Waves of every published plan and of its rollback.';
COMMENT ON COLUMN advisor.wave.time IS 'When the advisory was started.';
COMMENT ON COLUMN advisor.wave.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.wave.run_id IS 'The advisory that says so.';
COMMENT ON COLUMN advisor.wave.direction IS 'forward or rollback.';
COMMENT ON COLUMN advisor.wave.wave IS 'From 1, as the files; rollback 1 undoes the last wave.';
COMMENT ON COLUMN advisor.wave.move_count IS 'Partitions that change in it.';
COMMENT ON COLUMN advisor.wave.bytes IS 'Bytes that are copied; NULL where sizes are unknown.';
COMMENT ON COLUMN advisor.wave.seconds IS 'Busiest broker''s bytes over the throttle.';
COMMENT ON COLUMN advisor.wave.throttle_bytes_per_s IS 'Throttle.';
COMMENT ON COLUMN advisor.wave.free_disk_needed IS 'Bytes by broker while both copies exist.';
