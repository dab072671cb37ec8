-- Question 5 of docs/sql-and-grafana.md: moves recommended for days but not applied.
-- Looks back over the last 30 advisories of each cluster.
CREATE OR REPLACE VIEW advisor.move_status_latest AS
WITH recent AS MATERIALIZED (
    SELECT published.cluster, published.run_key, published.started_at, published.age
    FROM store.published_run AS published
    WHERE published.age <= 30
),
advised AS (
    SELECT
        recent.cluster, recent.run_key, recent.age, recent.started_at, move.topic, move.partition, move.to_replicas,
        move.leader_to, move.bytes,
        row_number() OVER (
            PARTITION BY recent.cluster, move.topic, move.partition, move.to_replicas, move.leader_to
            ORDER BY recent.age
        ) AS place
    FROM recent
    JOIN store.move ON move.run_key = recent.run_key AND move.started_at = recent.started_at
),
standing AS (
    -- An advisory at age n is part of the unbroken row if n advisories up to there advise the same.
    SELECT
        advised.cluster, advised.topic, advised.partition, advised.to_replicas,
        max(advised.started_at) AS newest_started_at, min(advised.started_at) AS since, count(*) AS advisories,
        max(advised.bytes) FILTER (WHERE advised.age = 1) AS bytes
    FROM advised
    WHERE advised.age = advised.place
    GROUP BY advised.cluster, advised.topic, advised.partition, advised.to_replicas, advised.leader_to
),
-- Postgres takes each of these two lists of the same moves for one row: a join would compare all with all.
both_of_each AS (
    SELECT
        cluster, topic, partition, to_replicas, newest_started_at, since, advisories, bytes,
        NULL::integer[] AS replicas_now, NULL::text AS state
    FROM standing
    UNION ALL
    SELECT moved.cluster, moved.topic, moved.partition, NULL, NULL, NULL, NULL, NULL, moved.replicas_now, moved.state
    FROM store.move_outcome AS moved
    WHERE moved.age = 1
)
SELECT
    max(newest_started_at) AS started_at,
    cluster,
    topic,
    partition,
    max(to_replicas) AS to_replicas,
    max(replicas_now) AS replicas_now,
    max(bytes) AS bytes,
    max(since) AS recommended_since,
    max(advisories) AS advisories,
    max(state) = 'applied' AS is_applied,
    max(state) AS state
FROM both_of_each
GROUP BY cluster, topic, partition;

COMMENT ON VIEW advisor.move_status_latest IS 'Moves of the newest plan: since when each advisory recommends them, and their state in the newest snapshot.';
COMMENT ON COLUMN advisor.move_status_latest.started_at IS 'Start of the advisory.';
COMMENT ON COLUMN advisor.move_status_latest.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.move_status_latest.topic IS 'Topic.';
COMMENT ON COLUMN advisor.move_status_latest.partition IS 'Partition.';
COMMENT ON COLUMN advisor.move_status_latest.to_replicas IS 'Replicas of the plan.';
COMMENT ON COLUMN advisor.move_status_latest.replicas_now IS 'Replicas in the newest snapshot.';
COMMENT ON COLUMN advisor.move_status_latest.bytes IS 'Bytes that the move copies.';
COMMENT ON COLUMN advisor.move_status_latest.recommended_since IS 'Start of the first of the consecutive advisories with the move.';
COMMENT ON COLUMN advisor.move_status_latest.advisories IS 'Number of consecutive advisories with the move.';
COMMENT ON COLUMN advisor.move_status_latest.is_applied IS 'The newest snapshot shows the replicas and the leader of the plan.';
COMMENT ON COLUMN advisor.move_status_latest.state IS 'State in the newest snapshot: applied, placed (leader not elected yet), moving, open (not started), elsewhere (moved by another tool) or gone.';
