CREATE OR REPLACE VIEW advisor.group_lag_latest AS
SELECT
    newest.time,
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
    ON committed.snapshot_key = newest.snapshot_key AND committed.time = newest.time
JOIN store.consumer_group AS grouped
    ON grouped.snapshot_key = newest.snapshot_key AND grouped.time = newest.time
    AND grouped.group_id = committed.group_id
CROSS JOIN LATERAL unnest(
    committed.partitions, committed.offsets, committed.lags, committed.read_messages_per_s
) AS offsets (partition, committed, lag, reads)
LEFT JOIN store.partition AS placed
    ON placed.snapshot_key = newest.snapshot_key AND placed.time = newest.time
    AND placed.topic = committed.topic AND placed.partition = offsets.partition
-- greatest() takes 0 for the larger one of 0 and NULL: of an unknown end it would make no lag.
CROSS JOIN LATERAL (
    SELECT coalesce(
        offsets.lag,
        CASE WHEN placed.end_offset IS NOT NULL THEN greatest(placed.end_offset - offsets.committed, 0) END)
) AS behind (messages)
GROUP BY newest.time, newest.cluster, committed.group_id, committed.topic, grouped.type;
