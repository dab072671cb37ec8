CREATE OR REPLACE VIEW advisor.load_latest AS
SELECT
    newest.time,
    newest.cluster,
    newest.snapshot_id,
    each.topic,
    each.partition,
    each.log_bytes,
    each.in_bytes_per_s,
    each.out_bytes_per_s,
    each.cpu_percent,
    each.in_messages_per_s
FROM store.newest_snapshot AS newest
JOIN store.load AS each
    ON each.snapshot_key = newest.snapshot_key AND each.time = newest.time;

COMMENT ON VIEW advisor.load_latest IS 'Loads of the newest reading of each cluster; NULL is unknown, never zero.';
COMMENT ON COLUMN advisor.load_latest.time IS 'When the cluster was read.';
COMMENT ON COLUMN advisor.load_latest.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.load_latest.snapshot_id IS 'sha256 of the reading''s content.';
COMMENT ON COLUMN advisor.load_latest.topic IS 'Topic.';
COMMENT ON COLUMN advisor.load_latest.partition IS 'Partition.';
COMMENT ON COLUMN advisor.load_latest.log_bytes IS 'Size of the leader''s replica.';
COMMENT ON COLUMN advisor.load_latest.in_bytes_per_s IS 'Written to the leader.';
COMMENT ON COLUMN advisor.load_latest.out_bytes_per_s IS 'Fetched by consumers from the leader, without replication.';
COMMENT ON COLUMN advisor.load_latest.cpu_percent IS 'CPU of the leader.';
COMMENT ON COLUMN advisor.load_latest.in_messages_per_s IS 'Messages written to the leader.';
