CREATE OR REPLACE VIEW advisor.load AS
SELECT
    snapshot.captured_at,
    snapshot.cluster,
    snapshot.snapshot_id,
    load.topic,
    load.partition,
    load.log_bytes,
    load.in_bytes_per_s,
    load.out_bytes_per_s,
    load.cpu_percent,
    load.in_messages_per_s
FROM store.snapshot
JOIN store.sized_load AS load
    ON load.snapshot_key = snapshot.snapshot_key AND load.captured_at = snapshot.captured_at
WHERE snapshot.status = 'passed' AND NOT snapshot.is_pruned;

COMMENT ON VIEW advisor.load IS 'Loads of every snapshot; one row a partition; NULL is unknown, never zero.';
COMMENT ON COLUMN advisor.load.captured_at IS 'Time of the snapshot.';
COMMENT ON COLUMN advisor.load.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.load.snapshot_id IS 'sha256 of the snapshot''s content.';
COMMENT ON COLUMN advisor.load.topic IS 'Topic.';
COMMENT ON COLUMN advisor.load.partition IS 'Partition.';
COMMENT ON COLUMN advisor.load.log_bytes IS 'Size of the leader''s replica.';
COMMENT ON COLUMN advisor.load.in_bytes_per_s IS 'Written to the leader.';
COMMENT ON COLUMN advisor.load.out_bytes_per_s IS 'Fetched by consumers from the leader, without replication.';
COMMENT ON COLUMN advisor.load.cpu_percent IS 'CPU of the leader.';
COMMENT ON COLUMN advisor.load.in_messages_per_s IS 'Messages written to the leader.';
