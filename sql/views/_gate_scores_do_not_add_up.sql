-- Internal: a rule of the result gate.
CREATE OR REPLACE VIEW store.gate_scores_do_not_add_up AS
SELECT
    run.run_id,
    summed.resource,
    summed.what,
    summed.reported,
    summed.found
FROM store.checked_run AS run
CROSS JOIN LATERAL (
    SELECT whole.resource, pair.what, pair.reported, pair.found
    FROM store.resource_score AS whole
    CROSS JOIN LATERAL (
        SELECT
            coalesce(sum(part.load), 0) AS total,
            CASE WHEN whole.plain_mean > 0 THEN coalesce(max(part.level), 0) / whole.plain_mean ELSE 0 END AS skew
        FROM store.broker_score AS part
        WHERE part.run_key = run.run_key AND part.started_at = run.started_at AND part.resource = whole.resource AND part.remains_in_cluster
    ) AS brokers
    CROSS JOIN LATERAL (VALUES ('total', whole.total, brokers.total), ('skew', whole.skew, brokers.skew)) AS pair (what, reported, found)
    WHERE whole.run_key = run.run_key
    UNION ALL
    SELECT planned.resource, 'load of broker ' || planned.broker, planned.load_before, part.load
    FROM store.plan_broker AS planned
    JOIN store.broker_score AS part
        ON part.run_key = planned.run_key AND part.started_at = planned.started_at
        AND part.resource = planned.resource AND part.broker = planned.broker
    WHERE planned.run_key = run.run_key AND planned.started_at = run.started_at
) AS summed
WHERE abs(summed.reported - summed.found) > 1e-6 * greatest(abs(summed.reported), abs(summed.found), 1e-9);

COMMENT ON VIEW store.gate_scores_do_not_add_up IS 'A resource''s total and skew follow from its brokers'' loads, and the plan starts from the same loads.';
