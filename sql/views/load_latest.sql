CREATE OR REPLACE VIEW advisor.load_latest AS
SELECT
    newest.captured_at,
    newest.cluster,
    newest.snapshot_id,
    load.topic,
    load.partition,
    load.log_bytes,
    load.in_bytes_per_s,
    load.out_bytes_per_s,
    load.cpu_percent,
    load.in_messages_per_s
FROM store.newest_snapshot AS newest
JOIN store.sized_load AS load
    ON load.snapshot_key = newest.snapshot_key AND load.captured_at = newest.captured_at;

COMMENT ON VIEW advisor.load_latest IS 'Loads of the newest snapshot of each cluster; NULL is unknown, never zero.';
COMMENT ON COLUMN advisor.load_latest.captured_at IS 'Time of the snapshot.';
COMMENT ON COLUMN advisor.load_latest.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.load_latest.snapshot_id IS 'sha256 of the snapshot''s content.';
COMMENT ON COLUMN advisor.load_latest.topic IS 'Topic.';
COMMENT ON COLUMN advisor.load_latest.partition IS 'Partition.';
COMMENT ON COLUMN advisor.load_latest.log_bytes IS 'Size of the leader''s replica.';
COMMENT ON COLUMN advisor.load_latest.in_bytes_per_s IS 'Written to the leader.';
COMMENT ON COLUMN advisor.load_latest.out_bytes_per_s IS 'Fetched by consumers from the leader, without replication.';
COMMENT ON COLUMN advisor.load_latest.cpu_percent IS 'CPU of the leader.';
COMMENT ON COLUMN advisor.load_latest.in_messages_per_s IS 'Messages written to the leader.';
