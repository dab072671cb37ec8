CREATE OR REPLACE VIEW advisor.group_lag_latest AS
SELECT
    newest.captured_at,
    newest.cluster,
    committed.group_id,
    committed.topic,
    count(*) AS partitions,
    sum(behind.messages)::bigint AS lag_messages,
    max(behind.messages) AS max_lag_messages,
    grouped.type,
    CASE WHEN bool_and(offsets.reads IS NOT NULL) THEN sum(offsets.reads) END AS read_messages_per_s
FROM store.newest_snapshot AS newest
JOIN store.committed_offset AS committed
    ON committed.snapshot_key = newest.snapshot_key AND committed.captured_at = newest.captured_at
JOIN store.consumer_group AS grouped
    ON grouped.snapshot_key = newest.snapshot_key AND grouped.captured_at = newest.captured_at
    AND grouped.group_id = committed.group_id
CROSS JOIN LATERAL unnest(
    committed.partitions, committed.offsets, committed.lags, committed.read_messages_per_s
) AS offsets (partition, committed, lag, reads)
LEFT JOIN store.partition AS placed
    ON placed.snapshot_key = newest.snapshot_key AND placed.captured_at = newest.captured_at
    AND placed.topic = committed.topic AND placed.partition = offsets.partition
-- greatest(0, NULL) is 0: an unknown end offset would become no lag.
CROSS JOIN LATERAL (
    SELECT coalesce(
        offsets.lag,
        CASE WHEN placed.end_offset IS NOT NULL THEN greatest(placed.end_offset - offsets.committed, 0) END)
) AS behind (messages)
GROUP BY newest.captured_at, newest.cluster, committed.group_id, committed.topic, grouped.type;

COMMENT ON VIEW advisor.group_lag_latest IS 'Lag of each group and topic in the newest snapshot of each cluster.';
COMMENT ON COLUMN advisor.group_lag_latest.captured_at IS 'Time of the snapshot.';
COMMENT ON COLUMN advisor.group_lag_latest.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.group_lag_latest.group_id IS 'Group.';
COMMENT ON COLUMN advisor.group_lag_latest.topic IS 'Topic.';
COMMENT ON COLUMN advisor.group_lag_latest.partitions IS 'Partitions with a committed offset.';
COMMENT ON COLUMN advisor.group_lag_latest.lag_messages IS 'Lag; NULL where no end offset is known.';
COMMENT ON COLUMN advisor.group_lag_latest.max_lag_messages IS 'Largest lag of one partition.';
COMMENT ON COLUMN advisor.group_lag_latest.type IS 'Type of the group; the lag of a share group is the one its broker reports.';
COMMENT ON COLUMN advisor.group_lag_latest.read_messages_per_s IS 'Read rate of the group; NULL where the rate of a partition is unknown.';
