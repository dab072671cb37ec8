-- Question 5 of docs/sql-and-grafana.md: how much of the newest plan equals the one before. A cluster's first advisory has none before.
CREATE OR REPLACE VIEW advisor.plan_overlap_latest AS
SELECT
    newest.started_at,
    newest.cluster,
    newest.run_id,
    previous.run_id AS previous_run_id,
    counted.moves AS move_count,
    before.moves AS previous_move_count,
    CASE WHEN previous.run_key IS NOT NULL THEN counted.same END AS same_move_count,
    CASE
        WHEN counted.moves > 0 AND previous.run_key IS NOT NULL THEN counted.same / counted.moves::double precision
        -- Two plans without moves are equal.
        WHEN previous.run_key IS NOT NULL THEN (before.moves = 0)::integer::double precision
    END AS same_ratio
FROM store.published_run AS newest
LEFT JOIN store.published_run AS previous ON previous.cluster = newest.cluster AND previous.age = 2
CROSS JOIN LATERAL (
    SELECT count(*) AS moves, count(earlier.partition) AS same
    FROM store.move AS mine
    LEFT JOIN store.move AS earlier
        ON earlier.run_key = previous.run_key AND earlier.started_at = previous.started_at
        AND earlier.topic = mine.topic AND earlier.partition = mine.partition
        AND earlier.to_replicas = mine.to_replicas AND earlier.leader_to = mine.leader_to
    WHERE mine.run_key = newest.run_key AND mine.started_at = newest.started_at
) AS counted
CROSS JOIN LATERAL (
    SELECT CASE WHEN previous.run_key IS NOT NULL THEN count(*) END AS moves
    FROM store.move AS theirs
    WHERE theirs.run_key = previous.run_key AND theirs.started_at = previous.started_at
) AS before
WHERE newest.age = 1;

COMMENT ON VIEW advisor.plan_overlap_latest IS 'Moves that the newest plan of each cluster shares with the plan published before.';
COMMENT ON COLUMN advisor.plan_overlap_latest.started_at IS 'Start of the advisory.';
COMMENT ON COLUMN advisor.plan_overlap_latest.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.plan_overlap_latest.run_id IS 'The newest advisory.';
COMMENT ON COLUMN advisor.plan_overlap_latest.previous_run_id IS 'The advisory before; NULL for the first.';
COMMENT ON COLUMN advisor.plan_overlap_latest.move_count IS 'Moves of the newest plan.';
COMMENT ON COLUMN advisor.plan_overlap_latest.previous_move_count IS 'Moves of the plan before.';
COMMENT ON COLUMN advisor.plan_overlap_latest.same_move_count IS 'Moves with the same partition and the same target.';
COMMENT ON COLUMN advisor.plan_overlap_latest.same_ratio IS 'Share of the moves of the newest plan that are in the plan before; 1 where both have none.';
