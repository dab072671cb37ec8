CREATE OR REPLACE VIEW advisor.log_dir_latest AS
SELECT
    newest.time,
    newest.cluster,
    newest.snapshot_id,
    each.broker,
    each.path,
    each.total_bytes,
    each.usable_bytes,
    each.error,
    each.is_cordoned
FROM store.newest_snapshot AS newest
JOIN store.log_dir AS each
    ON each.snapshot_key = newest.snapshot_key AND each.time = newest.time;

COMMENT ON VIEW advisor.log_dir_latest IS 'Log directories of the newest reading of each cluster.';
COMMENT ON COLUMN advisor.log_dir_latest.time IS 'When the cluster was read.';
COMMENT ON COLUMN advisor.log_dir_latest.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.log_dir_latest.snapshot_id IS 'sha256 of the reading''s content.';
COMMENT ON COLUMN advisor.log_dir_latest.broker IS 'Broker id.';
COMMENT ON COLUMN advisor.log_dir_latest.path IS 'Directory.';
COMMENT ON COLUMN advisor.log_dir_latest.total_bytes IS 'Size of its volume; NULL where the broker does not tell.';
COMMENT ON COLUMN advisor.log_dir_latest.usable_bytes IS 'Free bytes of its volume.';
COMMENT ON COLUMN advisor.log_dir_latest.error IS 'What the broker says is wrong with it.';
COMMENT ON COLUMN advisor.log_dir_latest.is_cordoned IS 'Nothing new may be placed on it (KIP-1066).';
