CREATE OR REPLACE VIEW advisor.log_dir AS
SELECT
    snapshot.captured_at,
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
    ON log_dir.snapshot_key = snapshot.snapshot_key AND log_dir.captured_at = snapshot.captured_at
WHERE snapshot.status = 'passed' AND NOT snapshot.is_pruned;

COMMENT ON VIEW advisor.log_dir IS 'Log directories of every snapshot.';
COMMENT ON COLUMN advisor.log_dir.captured_at IS 'Time of the snapshot.';
COMMENT ON COLUMN advisor.log_dir.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.log_dir.snapshot_id IS 'sha256 of the snapshot''s content.';
COMMENT ON COLUMN advisor.log_dir.broker IS 'Broker id.';
COMMENT ON COLUMN advisor.log_dir.path IS 'Directory.';
COMMENT ON COLUMN advisor.log_dir.total_bytes IS 'Size of its volume; NULL where the broker does not report it.';
COMMENT ON COLUMN advisor.log_dir.usable_bytes IS 'Free bytes of its volume.';
COMMENT ON COLUMN advisor.log_dir.error IS 'Error that the broker reports.';
COMMENT ON COLUMN advisor.log_dir.is_cordoned IS 'Nothing new may be placed on it (KIP-1066).';
COMMENT ON COLUMN advisor.log_dir.stray_logs IS 'Logs in it that belong to no replica list.';
COMMENT ON COLUMN advisor.log_dir.stray_bytes IS 'Bytes of the stray logs.';
COMMENT ON COLUMN advisor.log_dir.largest_stray IS 'Topic and partition of the largest stray log.';
