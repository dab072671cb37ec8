-- Question 6 of docs/sql-and-grafana.md: predicted against realised.
-- The measured skew is that of the newest advisory if its snapshot is later than that of the plan, else that of the newest
-- snapshot. The counts are those of store.move_outcome.
CREATE OR REPLACE VIEW advisor.plan_outcome AS
WITH counted AS MATERIALIZED (
    SELECT
        moved.run_key,
        count(*) AS moves,
        count(*) FILTER (WHERE moved.state = 'applied') AS applied,
        count(*) FILTER (WHERE moved.state = 'placed') AS placed,
        count(*) FILTER (WHERE moved.state = 'moving') AS moving,
        count(*) FILTER (WHERE moved.state = 'open') AS open,
        count(*) FILTER (WHERE moved.state = 'elsewhere') AS elsewhere,
        count(*) FILTER (WHERE moved.state = 'gone') AS gone
    FROM store.move_outcome AS moved
    GROUP BY moved.run_key
),
measured AS (
    SELECT newest.cluster, later_read.captured_at, resource_score.resource, resource_score.skew
    FROM store.newest_run AS newest
    JOIN store.snapshot AS later_read ON later_read.snapshot_key = newest.snapshot_key
    JOIN store.resource_score ON resource_score.run_key = newest.run_key
),
last_read AS MATERIALIZED (
    SELECT cluster, snapshot_key, captured_at FROM store.newest_snapshot
),
read_since AS MATERIALIZED (
    SELECT last_read.cluster, last_read.captured_at, resource_skew.resource, resource_skew.skew
    FROM last_read
    JOIN store.resource_skew
        ON resource_skew.snapshot_key = last_read.snapshot_key AND resource_skew.captured_at = last_read.captured_at
)
SELECT
    run.started_at,
    run.cluster,
    run.run_id,
    promised.resource,
    promised.skew_before,
    promised.skew_after AS skew_predicted,
    coalesce(measured.skew, read_since.skew) AS skew_measured,
    coalesce(measured.captured_at, read_since.captured_at) AS measured_at,
    counted.moves AS move_count,
    counted.applied AS applied_count,
    counted.placed AS placed_count,
    counted.moving AS moving_count,
    counted.open AS open_count,
    counted.elsewhere AS elsewhere_count,
    counted.gone AS gone_count,
    CASE
        WHEN last_read.captured_at > advised_on.captured_at IS NOT TRUE THEN 'not_read_since'
        WHEN counted.applied = counted.moves THEN 'applied'
        WHEN counted.applied + counted.placed + counted.moving > 0 THEN 'partly_applied'
        WHEN counted.elsewhere + counted.gone > 0 THEN 'moved_by_others'
        ELSE 'not_applied'
    END AS outcome
FROM store.run
JOIN store.plan ON plan.run_key = run.run_key AND plan.verdict = 'rebalance'
JOIN store.plan_resource AS promised
    ON promised.run_key = run.run_key AND promised.exclusion_reason_code IS NULL
JOIN store.snapshot AS advised_on ON advised_on.snapshot_key = run.snapshot_key
JOIN counted ON counted.run_key = run.run_key
LEFT JOIN measured
    ON measured.cluster = run.cluster AND measured.resource = promised.resource AND measured.captured_at > advised_on.captured_at
LEFT JOIN read_since
    ON read_since.cluster = run.cluster AND read_since.resource = promised.resource AND read_since.captured_at > advised_on.captured_at
LEFT JOIN last_read ON last_read.cluster = run.cluster
WHERE run.status = 'published';

COMMENT ON VIEW advisor.plan_outcome IS 'Outcome of each published plan with moves: applied moves, predicted skew and measured skew.';
COMMENT ON COLUMN advisor.plan_outcome.started_at IS 'Start of the advisory.';
COMMENT ON COLUMN advisor.plan_outcome.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.plan_outcome.run_id IS 'Id of the advisory.';
COMMENT ON COLUMN advisor.plan_outcome.resource IS 'Balanced resource.';
COMMENT ON COLUMN advisor.plan_outcome.skew_before IS 'Skew before the plan.';
COMMENT ON COLUMN advisor.plan_outcome.skew_predicted IS 'Skew that the plan predicted.';
COMMENT ON COLUMN advisor.plan_outcome.skew_measured IS 'Skew in the newest advisory on a later snapshot, else in the newest later snapshot; NULL: there is none.';
COMMENT ON COLUMN advisor.plan_outcome.measured_at IS 'Time of that snapshot.';
COMMENT ON COLUMN advisor.plan_outcome.move_count IS 'Moves of the plan.';
COMMENT ON COLUMN advisor.plan_outcome.applied_count IS 'Moves that the newest snapshot shows as applied, replicas and leader.';
COMMENT ON COLUMN advisor.plan_outcome.placed_count IS 'Moves with replicas in place and the leader not elected yet.';
COMMENT ON COLUMN advisor.plan_outcome.moving_count IS 'Moves under way.';
COMMENT ON COLUMN advisor.plan_outcome.open_count IS 'Moves not started.';
COMMENT ON COLUMN advisor.plan_outcome.elsewhere_count IS 'Partitions that another tool moved or is moving.';
COMMENT ON COLUMN advisor.plan_outcome.gone_count IS 'Partitions that no longer exist.';
COMMENT ON COLUMN advisor.plan_outcome.outcome IS 'applied (every move), partly_applied (some moves applied or under way), moved_by_others, not_applied, or not_read_since (no later snapshot).';
