CREATE OR REPLACE VIEW advisor.load_source AS
SELECT
    snapshot.captured_at,
    snapshot.cluster,
    snapshot.snapshot_id,
    load_source.kind,
    load_source.source,
    load_source.window_s,
    load_source.known_share
FROM store.snapshot
JOIN store.load_source
    ON load_source.snapshot_key = snapshot.snapshot_key
WHERE snapshot.status = 'passed';

COMMENT ON VIEW advisor.load_source IS 'Source of each load of every snapshot.';
COMMENT ON COLUMN advisor.load_source.captured_at IS 'Time of the snapshot.';
COMMENT ON COLUMN advisor.load_source.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.load_source.snapshot_id IS 'sha256 of the snapshot''s content.';
COMMENT ON COLUMN advisor.load_source.kind IS 'log_bytes, in_bytes_per_s, out_bytes_per_s, cpu_percent or in_messages_per_s.';
COMMENT ON COLUMN advisor.load_source.source IS 'log_dirs, log_dir_growth, offsets_times_message_size, prometheus, given, hourly_mean, hourly_p95, busiest_hours, estimated or unknown.';
COMMENT ON COLUMN advisor.load_source.window_s IS 'Seconds over which a rate was measured; NULL for sizes and given figures.';
COMMENT ON COLUMN advisor.load_source.known_share IS 'Share of partitions whose figure is known.';
