CREATE OR REPLACE VIEW advisor.load AS
SELECT
    snapshot.time,
    snapshot.cluster,
    snapshot.snapshot_id,
    each.topic,
    each.partition,
    each.log_bytes,
    each.in_bytes_per_s,
    each.out_bytes_per_s,
    each.cpu_percent,
    each.in_messages_per_s
FROM store.snapshot
JOIN store.load AS each
    ON each.snapshot_key = snapshot.snapshot_key AND each.time = snapshot.time
WHERE snapshot.status = 'passed';

COMMENT ON VIEW advisor.load IS 'Loads of every reading; one row a partition; NULL is unknown, never zero.';
COMMENT ON COLUMN advisor.load.time IS 'When the cluster was read.';
COMMENT ON COLUMN advisor.load.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.load.snapshot_id IS 'sha256 of the reading''s content.';
COMMENT ON COLUMN advisor.load.topic IS 'Topic.';
COMMENT ON COLUMN advisor.load.partition IS 'Partition.';
COMMENT ON COLUMN advisor.load.log_bytes IS 'Size of the leader''s replica.';
COMMENT ON COLUMN advisor.load.in_bytes_per_s IS 'Written to the leader.';
COMMENT ON COLUMN advisor.load.out_bytes_per_s IS 'Fetched by consumers from the leader, without replication.';
COMMENT ON COLUMN advisor.load.cpu_percent IS 'CPU of the leader.';
COMMENT ON COLUMN advisor.load.in_messages_per_s IS 'Messages written to the leader.';
