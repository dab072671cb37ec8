CREATE OR REPLACE VIEW advisor.load_source_latest AS
SELECT
    newest.captured_at,
    newest.cluster,
    newest.snapshot_id,
    load_source.kind,
    load_source.source,
    load_source.window_s,
    load_source.known_share
FROM store.newest_snapshot AS newest
JOIN store.load_source
    ON load_source.snapshot_key = newest.snapshot_key;

COMMENT ON VIEW advisor.load_source_latest IS 'Source of each load of the newest snapshot; a kind without a row is unknown.';
COMMENT ON COLUMN advisor.load_source_latest.captured_at IS 'Time of the snapshot.';
COMMENT ON COLUMN advisor.load_source_latest.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.load_source_latest.snapshot_id IS 'sha256 of the snapshot''s content.';
COMMENT ON COLUMN advisor.load_source_latest.kind IS 'log_bytes, in_bytes_per_s, out_bytes_per_s, cpu_percent or in_messages_per_s.';
COMMENT ON COLUMN advisor.load_source_latest.source IS 'log_dirs, log_dir_growth, offsets_times_message_size, prometheus, given, hourly_mean, hourly_p95, busiest_hours, estimated or unknown.';
COMMENT ON COLUMN advisor.load_source_latest.window_s IS 'Seconds over which a rate was measured; NULL for sizes and given figures.';
COMMENT ON COLUMN advisor.load_source_latest.known_share IS 'Share of partitions whose figure is known.';
