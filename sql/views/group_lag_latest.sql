CREATE OR REPLACE VIEW advisor.group_lag_latest AS
SELECT
    newest.time,
    newest.cluster,
    committed.group_id,
    committed.topic,
    count(*) AS partitions,
    sum(greatest(placed.end_offset - offsets.committed, 0))::bigint AS lag_messages,
    max(greatest(placed.end_offset - offsets.committed, 0)) AS max_lag_messages
FROM store.newest_snapshot AS newest
JOIN store.committed_offset AS committed
    ON committed.snapshot_key = newest.snapshot_key AND committed.time = newest.time
CROSS JOIN LATERAL unnest(committed.partitions, committed.offsets) AS offsets (partition, committed)
LEFT JOIN store.partition AS placed
    ON placed.snapshot_key = newest.snapshot_key AND placed.time = newest.time
    AND placed.topic = committed.topic AND placed.partition = offsets.partition
GROUP BY newest.time, newest.cluster, committed.group_id, committed.topic;

COMMENT ON VIEW advisor.group_lag_latest IS 'How far each group is behind in each topic, in the newest reading of each cluster.';
COMMENT ON COLUMN advisor.group_lag_latest.time IS 'When the cluster was read.';
COMMENT ON COLUMN advisor.group_lag_latest.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.group_lag_latest.group_id IS 'Group.';
COMMENT ON COLUMN advisor.group_lag_latest.topic IS 'Topic.';
COMMENT ON COLUMN advisor.group_lag_latest.partitions IS 'Partitions with a committed offset.';
COMMENT ON COLUMN advisor.group_lag_latest.lag_messages IS 'Messages not yet read; NULL where no end offset is known.';
COMMENT ON COLUMN advisor.group_lag_latest.max_lag_messages IS 'Of the partition furthest behind.';
