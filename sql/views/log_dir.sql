CREATE OR REPLACE VIEW advisor.log_dir AS
SELECT
    snapshot.time,
    snapshot.cluster,
    snapshot.snapshot_id,
    each.broker,
    each.path,
    each.total_bytes,
    each.usable_bytes,
    each.error,
    each.is_cordoned
FROM store.snapshot
JOIN store.log_dir AS each
    ON each.snapshot_key = snapshot.snapshot_key AND each.time = snapshot.time
WHERE snapshot.status = 'passed';

COMMENT ON VIEW advisor.log_dir IS 'Log directories of every reading.';
COMMENT ON COLUMN advisor.log_dir.time IS 'When the cluster was read.';
COMMENT ON COLUMN advisor.log_dir.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.log_dir.snapshot_id IS 'sha256 of the reading''s content.';
COMMENT ON COLUMN advisor.log_dir.broker IS 'Broker id.';
COMMENT ON COLUMN advisor.log_dir.path IS 'Directory.';
COMMENT ON COLUMN advisor.log_dir.total_bytes IS 'Size of its volume; NULL where the broker does not tell.';
COMMENT ON COLUMN advisor.log_dir.usable_bytes IS 'Free bytes of its volume.';
COMMENT ON COLUMN advisor.log_dir.error IS 'What the broker says is wrong with it.';
COMMENT ON COLUMN advisor.log_dir.is_cordoned IS 'Nothing new may be placed on it (KIP-1066).';
