-- Question 6 of DESIGN §4: predicted against realised.
-- Measured = the newest advisory, where its reading is later than that of the plan; applied = what the newest reading shows.
-- The newest placement is looked up by IN, which hashes it once: joins of tables by week are planned too small.
CREATE OR REPLACE VIEW advisor.plan_outcome AS
WITH applied AS (
    SELECT
        run.run_key,
        count(*) AS moves,
        count(*) FILTER (
            WHERE (run.cluster, move.topic, move.partition, move.to_replicas) IN (
                SELECT newest.cluster, placed.topic, placed.partition, placed.replicas
                FROM store.newest_snapshot AS newest
                JOIN store.partition AS placed
                    ON placed.snapshot_key = newest.snapshot_key AND placed.time = newest.time
            )
        ) AS done
    FROM store.run
    JOIN store.move ON move.run_key = run.run_key AND move.time = run.time
    WHERE run.status = 'published'
    GROUP BY run.run_key
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
    applied.moves AS move_count,
    applied.done AS applied_count
FROM store.run
JOIN store.plan ON plan.run_key = run.run_key AND plan.verdict = 'rebalance'
JOIN store.plan_resource AS promised
    ON promised.run_key = run.run_key AND promised.left_out_because IS NULL
JOIN store.snapshot AS advised_on ON advised_on.snapshot_key = run.snapshot_key
JOIN applied ON applied.run_key = run.run_key
LEFT JOIN measured
    ON measured.cluster = run.cluster AND measured.resource = promised.resource AND measured.time > advised_on.time
WHERE run.status = 'published';
