-- Question 6 of DESIGN §4: predicted against realised.
-- Measured = the newest advisory where its reading is later than that of the plan, else the newest reading; the counts = what the newest reading
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
),
last_read AS MATERIALIZED (
    SELECT cluster, snapshot_key, time FROM store.newest_snapshot
),
read_since AS MATERIALIZED (
    SELECT last_read.cluster, last_read.time, resource_skew.resource, resource_skew.skew
    FROM last_read
    JOIN store.resource_skew
        ON resource_skew.snapshot_key = last_read.snapshot_key AND resource_skew.time = last_read.time
)
SELECT
    run.time,
    run.cluster,
    run.run_id,
    promised.resource,
    promised.skew_before,
    promised.skew_after AS skew_predicted,
    coalesce(measured.skew, read_since.skew) AS skew_measured,
    coalesce(measured.time, read_since.time) AS measured_at,
    counted.moves AS move_count,
    counted.applied AS applied_count,
    counted.placed AS placed_count,
    counted.moving AS moving_count,
    counted.open AS open_count,
    counted.elsewhere AS elsewhere_count,
    counted.gone AS gone_count,
    CASE
        WHEN last_read.time > advised_on.time IS NOT TRUE THEN 'not_read_since'
        WHEN counted.applied = counted.moves THEN 'applied'
        WHEN counted.applied + counted.placed + counted.moving > 0 THEN 'partly_applied'
        WHEN counted.elsewhere + counted.gone > 0 THEN 'moved_by_others'
        ELSE 'not_applied'
    END AS outcome
FROM store.run
JOIN store.plan ON plan.run_key = run.run_key AND plan.verdict = 'rebalance'
JOIN store.plan_resource AS promised
    ON promised.run_key = run.run_key AND promised.left_out_code IS NULL
JOIN store.snapshot AS advised_on ON advised_on.snapshot_key = run.snapshot_key
JOIN counted ON counted.run_key = run.run_key
LEFT JOIN measured
    ON measured.cluster = run.cluster AND measured.resource = promised.resource AND measured.time > advised_on.time
LEFT JOIN read_since
    ON read_since.cluster = run.cluster AND read_since.resource = promised.resource AND read_since.time > advised_on.time
LEFT JOIN last_read ON last_read.cluster = run.cluster
WHERE run.status = 'published';
