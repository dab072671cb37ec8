-- Question 3 of docs/sql-and-grafana.md: which topics drove a broker since last week.
-- The earlier snapshot is the newest one that is at least seven days older, else the oldest stored one; basis says which.
-- With a single snapshot the earlier figures are unknown, not zero.
-- Rows of both snapshots are grouped, not joined: a filter on one broker then reads the rows of that broker alone.
CREATE OR REPLACE VIEW advisor.broker_topic_change AS
WITH pair AS (
    SELECT
        newest.cluster, newest.snapshot_key AS now_key, newest.captured_at AS now_captured_at,
        earlier.snapshot_key AS then_key, earlier.captured_at AS earlier_captured_at,
        CASE
            WHEN earlier.captured_at IS NULL THEN 'only_reading'
            WHEN earlier.captured_at <= newest.captured_at - interval '7 days' THEN 'a_week'
            ELSE 'all_that_is_kept'
        END AS basis
    FROM store.newest_snapshot AS newest
    CROSS JOIN LATERAL (
        SELECT coalesce(
            (
                SELECT max(snapshot.captured_at) FROM store.snapshot
                WHERE snapshot.cluster = newest.cluster AND snapshot.status = 'passed' AND NOT snapshot.is_pruned
                    AND snapshot.captured_at <= newest.captured_at - interval '7 days'
            ),
            (
                SELECT min(snapshot.captured_at) FROM store.snapshot
                WHERE snapshot.cluster = newest.cluster AND snapshot.status = 'passed' AND NOT snapshot.is_pruned
                    AND snapshot.captured_at < newest.captured_at
            )
        ) AS captured_at
    ) AS wanted
    LEFT JOIN LATERAL (
        SELECT snapshot.snapshot_key, snapshot.captured_at
        FROM store.snapshot
        WHERE snapshot.cluster = newest.cluster AND snapshot.status = 'passed' AND NOT snapshot.is_pruned
            AND snapshot.captured_at = wanted.captured_at
        ORDER BY snapshot.snapshot_key DESC
        LIMIT 1
    ) AS earlier ON true
),
held AS (
    SELECT pair.cluster, replica.broker, placed.topic, replica.bytes, true AS is_now
    FROM pair
    JOIN store.partition AS placed ON placed.snapshot_key = pair.now_key AND placed.captured_at = pair.now_captured_at
    CROSS JOIN LATERAL unnest(placed.replicas, placed.log_bytes) AS replica (broker, bytes)
    UNION ALL
    SELECT pair.cluster, replica.broker, placed.topic, replica.bytes, false AS is_now
    FROM pair
    JOIN store.partition AS placed ON placed.snapshot_key = pair.then_key AND placed.captured_at = pair.earlier_captured_at
    CROSS JOIN LATERAL unnest(placed.replicas, placed.log_bytes) AS replica (broker, bytes)
),
summed AS (
    SELECT
        cluster, broker, topic,
        count(*) FILTER (WHERE is_now) AS replicas_now,
        count(*) FILTER (WHERE NOT is_now) AS replicas_earlier,
        -- One unknown size makes the sum unknown; no replica at all is zero.
        CASE WHEN count(*) FILTER (WHERE is_now AND bytes IS NULL) = 0
            THEN coalesce(sum(bytes) FILTER (WHERE is_now), 0)::bigint END AS bytes_now,
        CASE WHEN count(*) FILTER (WHERE NOT is_now AND bytes IS NULL) = 0
            THEN coalesce(sum(bytes) FILTER (WHERE NOT is_now), 0)::bigint END AS bytes_earlier
    FROM held
    GROUP BY cluster, broker, topic
)
SELECT
    pair.now_captured_at AS captured_at,
    pair.cluster,
    pair.earlier_captured_at,
    summed.broker,
    summed.topic,
    summed.bytes_now,
    then_there.bytes AS bytes_earlier,
    summed.bytes_now - then_there.bytes AS bytes_change,
    summed.replicas_now,
    CASE WHEN pair.then_key IS NOT NULL THEN summed.replicas_earlier END AS replicas_earlier,
    pair.basis
FROM summed
JOIN pair ON pair.cluster = summed.cluster
CROSS JOIN LATERAL (SELECT CASE WHEN pair.then_key IS NOT NULL THEN summed.bytes_earlier END AS bytes) AS then_there;

COMMENT ON VIEW advisor.broker_topic_change IS 'Bytes of each topic on each broker now and about a week ago.';
COMMENT ON COLUMN advisor.broker_topic_change.captured_at IS 'Time of the newest snapshot.';
COMMENT ON COLUMN advisor.broker_topic_change.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.broker_topic_change.earlier_captured_at IS 'Time of the earlier snapshot; NULL where only one is stored.';
COMMENT ON COLUMN advisor.broker_topic_change.broker IS 'Broker id.';
COMMENT ON COLUMN advisor.broker_topic_change.topic IS 'Topic.';
COMMENT ON COLUMN advisor.broker_topic_change.bytes_now IS 'Bytes of the topic on the broker now; NULL where a size is unknown.';
COMMENT ON COLUMN advisor.broker_topic_change.bytes_earlier IS 'Bytes of the topic on the broker in the earlier snapshot.';
COMMENT ON COLUMN advisor.broker_topic_change.bytes_change IS 'bytes_now - bytes_earlier.';
COMMENT ON COLUMN advisor.broker_topic_change.replicas_now IS 'Replicas of the topic on the broker now; a difference means moved replicas or new partitions.';
COMMENT ON COLUMN advisor.broker_topic_change.replicas_earlier IS 'Replicas of the topic on the broker in the earlier snapshot.';
COMMENT ON COLUMN advisor.broker_topic_change.basis IS 'Earlier snapshot: a_week (at least a week older), all_that_is_kept (the oldest one, younger than that) or only_reading (none).';
