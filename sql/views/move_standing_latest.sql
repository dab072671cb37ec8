-- Question 5 of DESIGN §4: what was advised for days but not applied.
-- Looks back over the last 30 advisories of each cluster.
CREATE OR REPLACE VIEW advisor.move_standing_latest AS
SELECT
    newest.time,
    newest.cluster,
    mine.topic,
    mine.partition,
    mine.to_replicas,
    placed.replicas AS replicas_now,
    mine.bytes,
    standing.since AS advised_since,
    standing.advisories,
    placed.replicas = mine.to_replicas AND placed.leader IS NOT DISTINCT FROM mine.leader_to AS is_applied
FROM store.published_run AS newest
JOIN store.move AS mine ON mine.run_key = newest.run_key AND mine.time = newest.time
LEFT JOIN store.newest_snapshot AS read ON read.cluster = newest.cluster
LEFT JOIN store.partition AS placed
    ON placed.snapshot_key = read.snapshot_key AND placed.time = read.time
    AND placed.topic = mine.topic AND placed.partition = mine.partition
CROSS JOIN LATERAL (
    -- The run at age n belongs to the row of consecutive ones if n advisories up to there advise the move.
    SELECT min(streak.time) AS since, count(*) AS advisories
    FROM (
        SELECT published.time, published.age, row_number() OVER (ORDER BY published.age) AS place
        FROM store.published_run AS published
        JOIN store.move AS earlier
            ON earlier.run_key = published.run_key AND earlier.time = published.time
            AND earlier.topic = mine.topic AND earlier.partition = mine.partition
            AND earlier.to_replicas = mine.to_replicas AND earlier.leader_to = mine.leader_to
        WHERE published.cluster = newest.cluster AND published.age <= 30
    ) AS streak
    WHERE streak.age = streak.place
) AS standing
WHERE newest.age = 1;

COMMENT ON VIEW advisor.move_standing_latest IS 'Moves of the newest plan: since when they are advised without a break, and whether the newest reading shows them done.';
COMMENT ON COLUMN advisor.move_standing_latest.time IS 'When the advisory was started.';
COMMENT ON COLUMN advisor.move_standing_latest.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.move_standing_latest.topic IS 'Topic.';
COMMENT ON COLUMN advisor.move_standing_latest.partition IS 'Partition.';
COMMENT ON COLUMN advisor.move_standing_latest.to_replicas IS 'Where the plan wants it.';
COMMENT ON COLUMN advisor.move_standing_latest.replicas_now IS 'Where the newest reading shows it.';
COMMENT ON COLUMN advisor.move_standing_latest.bytes IS 'Bytes that it copies.';
COMMENT ON COLUMN advisor.move_standing_latest.advised_since IS 'First of the consecutive advisories that advise it.';
COMMENT ON COLUMN advisor.move_standing_latest.advisories IS 'How many consecutive advisories advise it.';
COMMENT ON COLUMN advisor.move_standing_latest.is_applied IS 'The newest reading shows target and leader.';
