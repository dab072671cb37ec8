-- Question 5 of DESIGN §4: what was advised for days but not applied.
-- Looks back over the last 30 advisories of each cluster.
CREATE OR REPLACE VIEW advisor.move_standing_latest AS
WITH recent AS MATERIALIZED (
    SELECT published.cluster, published.run_key, published.time, published.age
    FROM store.published_run AS published
    WHERE published.age <= 30
),
advised AS (
    SELECT
        recent.cluster, recent.run_key, recent.age, recent.time, move.topic, move.partition, move.to_replicas,
        move.leader_to, move.bytes,
        row_number() OVER (
            PARTITION BY recent.cluster, move.topic, move.partition, move.to_replicas, move.leader_to
            ORDER BY recent.age
        ) AS place
    FROM recent
    JOIN store.move ON move.run_key = recent.run_key AND move.time = recent.time
),
standing AS (
    -- An advisory at age n is part of the unbroken row if n advisories up to there advise the same.
    SELECT
        advised.cluster, advised.topic, advised.partition, advised.to_replicas, advised.leader_to,
        max(advised.time) AS newest_time, min(advised.time) AS since, count(*) AS advisories,
        max(advised.bytes) FILTER (WHERE advised.age = 1) AS bytes,
        max(advised.run_key) FILTER (WHERE advised.age = 1) AS run_key
    FROM advised
    WHERE advised.age = advised.place
    GROUP BY advised.cluster, advised.topic, advised.partition, advised.to_replicas, advised.leader_to
)
SELECT
    standing.newest_time AS time,
    standing.cluster,
    standing.topic,
    standing.partition,
    standing.to_replicas,
    moved.replicas_now,
    standing.bytes,
    standing.since AS advised_since,
    standing.advisories,
    moved.state = 'applied' AS is_applied,
    moved.state
FROM standing
LEFT JOIN store.move_outcome AS moved
    ON moved.run_key = standing.run_key AND moved.topic = standing.topic AND moved.partition = standing.partition;
