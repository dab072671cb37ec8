-- Question 5 of DESIGN §4: how much of the newest plan equals the one before. A cluster's first advisory has none before.
CREATE OR REPLACE VIEW advisor.plan_overlap_latest AS
SELECT
    newest.time,
    newest.cluster,
    newest.run_id,
    previous.run_id AS previous_run_id,
    counted.moves AS move_count,
    before.moves AS previous_move_count,
    CASE WHEN previous.run_key IS NOT NULL THEN counted.same END AS same_move_count,
    CASE
        WHEN counted.moves > 0 AND previous.run_key IS NOT NULL THEN counted.same / counted.moves::double precision
        -- A plan without moves equals one without, and no other.
        WHEN previous.run_key IS NOT NULL THEN (before.moves = 0)::integer::double precision
    END AS same_ratio
FROM store.published_run AS newest
LEFT JOIN store.published_run AS previous ON previous.cluster = newest.cluster AND previous.age = 2
CROSS JOIN LATERAL (
    SELECT count(*) AS moves, count(earlier.partition) AS same
    FROM store.move AS mine
    LEFT JOIN store.move AS earlier
        ON earlier.run_key = previous.run_key AND earlier.time = previous.time
        AND earlier.topic = mine.topic AND earlier.partition = mine.partition
        AND earlier.to_replicas = mine.to_replicas AND earlier.leader_to = mine.leader_to
    WHERE mine.run_key = newest.run_key AND mine.time = newest.time
) AS counted
CROSS JOIN LATERAL (
    SELECT CASE WHEN previous.run_key IS NOT NULL THEN count(*) END AS moves
    FROM store.move AS theirs
    WHERE theirs.run_key = previous.run_key AND theirs.time = previous.time
) AS before
WHERE newest.age = 1;
