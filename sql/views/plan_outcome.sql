-- Question 6 of DESIGN §4: predicted against realised.
-- Measured = the newest advisory, where its reading is later than that of the plan; the counts = what the newest reading
-- shows of each move, compared with what was there before (store.move_outcome).
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
    SELECT newest.cluster, later_read.time, resource_score.resource, resource_score.skew
    FROM store.newest_run AS newest
    JOIN store.snapshot AS later_read ON later_read.snapshot_key = newest.snapshot_key
    JOIN store.resource_score ON resource_score.run_key = newest.run_key
)
SELECT
    run.time,
    run.cluster,
    run.run_id,
    promised.resource,
    promised.skew_before,
    promised.skew_after AS skew_predicted,
    measured.skew AS skew_measured,
    measured.time AS measured_at,
    counted.moves AS move_count,
    counted.applied AS applied_count,
    counted.placed AS placed_count,
    counted.moving AS moving_count,
    counted.open AS open_count,
    counted.elsewhere AS elsewhere_count,
    counted.gone AS gone_count
FROM store.run
JOIN store.plan ON plan.run_key = run.run_key AND plan.verdict = 'rebalance'
JOIN store.plan_resource AS promised
    ON promised.run_key = run.run_key AND promised.left_out_because IS NULL
JOIN store.snapshot AS advised_on ON advised_on.snapshot_key = run.snapshot_key
JOIN counted ON counted.run_key = run.run_key
LEFT JOIN measured
    ON measured.cluster = run.cluster AND measured.resource = promised.resource AND measured.time > advised_on.time
WHERE run.status = 'published';
