-- Question 3 of DESIGN §4: which topics drove a broker since last week.
-- Then = the newest reading at least seven days older than the newest, else the oldest that is kept; basis says which. Of a
-- cluster's only reading nothing is known of then, which is not zero.
-- Both readings' rows are grouped together, not joined: so what is asked of one broker is looked for in that broker's rows.
CREATE OR REPLACE VIEW advisor.broker_topic_change AS
WITH pair AS (
    SELECT
        newest.cluster, newest.snapshot_key AS now_key, newest.time AS now_time,
        earlier.snapshot_key AS then_key, earlier.time AS then_time,
        CASE
            WHEN earlier.time IS NULL THEN 'only_reading'
            WHEN earlier.time <= newest.time - interval '7 days' THEN 'a_week'
            ELSE 'all_that_is_kept'
        END AS basis
    FROM store.newest_snapshot AS newest
    CROSS JOIN LATERAL (
        SELECT coalesce(
            (
                SELECT max(snapshot.time) FROM store.snapshot
                WHERE snapshot.cluster = newest.cluster AND snapshot.status = 'passed' AND NOT snapshot.is_pruned
                    AND snapshot.time <= newest.time - interval '7 days'
            ),
            (
                SELECT min(snapshot.time) FROM store.snapshot
                WHERE snapshot.cluster = newest.cluster AND snapshot.status = 'passed' AND NOT snapshot.is_pruned
                    AND snapshot.time < newest.time
            )
        ) AS time
    ) AS wanted
    LEFT JOIN LATERAL (
        SELECT snapshot.snapshot_key, snapshot.time
        FROM store.snapshot
        WHERE snapshot.cluster = newest.cluster AND snapshot.status = 'passed' AND NOT snapshot.is_pruned
            AND snapshot.time = wanted.time
        ORDER BY snapshot.snapshot_key DESC
        LIMIT 1
    ) AS earlier ON true
),
held AS (
    SELECT pair.cluster, replica.broker, placed.topic, replica.bytes, true AS is_now
    FROM pair
    JOIN store.partition AS placed ON placed.snapshot_key = pair.now_key AND placed.time = pair.now_time
    CROSS JOIN LATERAL unnest(placed.replicas, placed.log_bytes) AS replica (broker, bytes)
    UNION ALL
    SELECT pair.cluster, replica.broker, placed.topic, replica.bytes, false AS is_now
    FROM pair
    JOIN store.partition AS placed ON placed.snapshot_key = pair.then_key AND placed.time = pair.then_time
    CROSS JOIN LATERAL unnest(placed.replicas, placed.log_bytes) AS replica (broker, bytes)
),
summed AS (
    SELECT
        cluster, broker, topic,
        count(*) FILTER (WHERE is_now) AS replicas_now,
        count(*) FILTER (WHERE NOT is_now) AS replicas_then,
        -- One size that nobody knows makes the sum unknown; no replica at all is zero.
        CASE WHEN count(*) FILTER (WHERE is_now AND bytes IS NULL) = 0
            THEN coalesce(sum(bytes) FILTER (WHERE is_now), 0)::bigint END AS bytes_now,
        CASE WHEN count(*) FILTER (WHERE NOT is_now AND bytes IS NULL) = 0
            THEN coalesce(sum(bytes) FILTER (WHERE NOT is_now), 0)::bigint END AS bytes_then
    FROM held
    GROUP BY cluster, broker, topic
)
SELECT
    pair.now_time AS time,
    pair.cluster,
    pair.then_time AS since,
    summed.broker,
    summed.topic,
    summed.bytes_now,
    then_there.bytes AS bytes_then,
    summed.bytes_now - then_there.bytes AS bytes_change,
    summed.replicas_now,
    CASE WHEN pair.then_key IS NOT NULL THEN summed.replicas_then END AS replicas_then,
    pair.basis
FROM summed
JOIN pair ON pair.cluster = summed.cluster
CROSS JOIN LATERAL (SELECT CASE WHEN pair.then_key IS NOT NULL THEN summed.bytes_then END AS bytes) AS then_there;
