-- Question 3 of DESIGN §4: which topics drove a broker since last week.
-- Then = the newest reading at least seven days older than the newest, else the oldest that is kept.
CREATE OR REPLACE VIEW advisor.broker_topic_change AS
WITH pair AS (
    SELECT
        newest.cluster, newest.snapshot_key AS now_key, newest.time AS now_time,
        earlier.snapshot_key AS then_key, earlier.time AS then_time
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
    CROSS JOIN LATERAL (
        SELECT snapshot.snapshot_key, snapshot.time
        FROM store.snapshot
        WHERE snapshot.cluster = newest.cluster AND snapshot.status = 'passed' AND NOT snapshot.is_pruned
            AND snapshot.time = wanted.time
        ORDER BY snapshot.snapshot_key DESC
        LIMIT 1
    ) AS earlier
),
now_held AS (
    SELECT pair.cluster, replica.broker, placed.topic, sum(replica.bytes)::bigint AS bytes
    FROM pair
    JOIN store.partition AS placed ON placed.snapshot_key = pair.now_key AND placed.time = pair.now_time
    CROSS JOIN LATERAL unnest(placed.replicas, placed.log_bytes) AS replica (broker, bytes)
    GROUP BY pair.cluster, replica.broker, placed.topic
),
then_held AS (
    SELECT pair.cluster, replica.broker, placed.topic, sum(replica.bytes)::bigint AS bytes
    FROM pair
    JOIN store.partition AS placed ON placed.snapshot_key = pair.then_key AND placed.time = pair.then_time
    CROSS JOIN LATERAL unnest(placed.replicas, placed.log_bytes) AS replica (broker, bytes)
    GROUP BY pair.cluster, replica.broker, placed.topic
)
SELECT
    pair.now_time AS time,
    pair.cluster,
    pair.then_time AS since,
    coalesce(now_held.broker, then_held.broker) AS broker,
    coalesce(now_held.topic, then_held.topic) AS topic,
    coalesce(now_held.bytes, 0) AS bytes_now,
    coalesce(then_held.bytes, 0) AS bytes_then,
    coalesce(now_held.bytes, 0) - coalesce(then_held.bytes, 0) AS bytes_change
FROM now_held
FULL JOIN then_held
    ON then_held.cluster = now_held.cluster AND then_held.broker = now_held.broker AND then_held.topic = now_held.topic
JOIN pair ON pair.cluster = coalesce(now_held.cluster, then_held.cluster);
