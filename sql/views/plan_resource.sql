CREATE OR REPLACE VIEW advisor.plan_resource AS
SELECT
    run.time,
    run.cluster,
    run.run_id,
    each.resource,
    each.unit,
    each.source,
    each.mean_level,
    each.basis,
    each.band_asked_low,
    each.band_asked_high,
    each.widened_low,
    each.widened_high,
    each.skew_before,
    each.skew_after,
    each.left_out_because
FROM store.run
JOIN store.plan_resource AS each
    ON each.run_key = run.run_key
WHERE run.status = 'published';
