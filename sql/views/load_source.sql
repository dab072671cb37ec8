CREATE OR REPLACE VIEW advisor.load_source AS
SELECT
    snapshot.time,
    snapshot.cluster,
    snapshot.snapshot_id,
    each.kind,
    each.source,
    each.window_s,
    each.known_share
FROM store.snapshot
JOIN store.load_source AS each
    ON each.snapshot_key = snapshot.snapshot_key
WHERE snapshot.status = 'passed';

COMMENT ON VIEW advisor.load_source IS 'Where each load of each reading comes from.';
COMMENT ON COLUMN advisor.load_source.time IS 'When the cluster was read.';
COMMENT ON COLUMN advisor.load_source.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.load_source.snapshot_id IS 'sha256 of the reading''s content.';
COMMENT ON COLUMN advisor.load_source.kind IS 'log_bytes, in_bytes_per_s, out_bytes_per_s, cpu_percent or in_messages_per_s.';
COMMENT ON COLUMN advisor.load_source.source IS 'log_dirs, log_dir_growth, offsets_times_message_size, prometheus, given, estimated or unknown.';
COMMENT ON COLUMN advisor.load_source.window_s IS 'Seconds over which a rate was measured; NULL for sizes and given figures.';
COMMENT ON COLUMN advisor.load_source.known_share IS 'Share of partitions whose figure is known.';
