-- Question 6 of DESIGN §4: predicted against realised.
-- Measured = the first advisory published later whose reading is newer than the plan; applied = what the newest reading shows.
CREATE OR REPLACE VIEW advisor.plan_outcome AS
SELECT
    published.time,
    published.cluster,
    published.run_id,
    promised.resource,
    promised.skew_before,
    promised.skew_after AS skew_predicted,
    measured.skew AS skew_measured,
    measured.time AS measured_at,
    applied.moves AS move_count,
    applied.done AS applied_count
FROM store.published_run AS published
JOIN store.plan_resource AS promised
    ON promised.run_key = published.run_key AND promised.left_out_because IS NULL
JOIN store.plan ON plan.run_key = published.run_key AND plan.verdict = 'rebalance'
JOIN store.snapshot AS advised_on ON advised_on.snapshot_key = published.snapshot_key
LEFT JOIN LATERAL (
    SELECT resource_score.skew, later_read.time
    FROM store.newest_run AS later
    JOIN store.snapshot AS later_read
        ON later_read.snapshot_key = later.snapshot_key AND later_read.time > advised_on.time
    JOIN store.resource_score
        ON resource_score.run_key = later.run_key AND resource_score.resource = promised.resource
    WHERE later.cluster = published.cluster
) AS measured ON true
CROSS JOIN LATERAL (
    SELECT count(*) AS moves, count(*) FILTER (WHERE placed.replicas = mine.to_replicas) AS done
    FROM store.move AS mine
    LEFT JOIN store.newest_snapshot AS read ON read.cluster = published.cluster
    LEFT JOIN store.partition AS placed
        ON placed.snapshot_key = read.snapshot_key AND placed.time = read.time
        AND placed.topic = mine.topic AND placed.partition = mine.partition
    WHERE mine.run_key = published.run_key AND mine.time = published.time
) AS applied;

COMMENT ON VIEW advisor.plan_outcome IS 'Each published plan that moves something: how much of it is applied, and the skew it promised against the skew measured later.';
COMMENT ON COLUMN advisor.plan_outcome.time IS 'When the advisory was started.';
COMMENT ON COLUMN advisor.plan_outcome.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.plan_outcome.run_id IS 'The advisory that says so.';
COMMENT ON COLUMN advisor.plan_outcome.resource IS 'Balanced resource.';
COMMENT ON COLUMN advisor.plan_outcome.skew_before IS 'Skew when it was advised.';
COMMENT ON COLUMN advisor.plan_outcome.skew_predicted IS 'Skew that the plan promised.';
COMMENT ON COLUMN advisor.plan_outcome.skew_measured IS 'Skew in the newest advisory on a later reading; NULL until there is one.';
COMMENT ON COLUMN advisor.plan_outcome.measured_at IS 'When that was read.';
COMMENT ON COLUMN advisor.plan_outcome.move_count IS 'Moves of the plan.';
COMMENT ON COLUMN advisor.plan_outcome.applied_count IS 'Moves that the newest reading shows done.';
