CREATE OR REPLACE VIEW advisor.plan_resource AS
SELECT
    run.time,
    run.cluster,
    run.run_id,
    plan_resource.resource,
    plan_resource.unit,
    plan_resource.source,
    plan_resource.mean_level,
    plan_resource.basis,
    plan_resource.band_asked_low,
    plan_resource.band_asked_high,
    plan_resource.widened_low,
    plan_resource.widened_high,
    plan_resource.skew_before,
    plan_resource.skew_after,
    plan_resource.left_out_code,
    plan_resource.left_out_args
FROM store.run
JOIN store.plan_resource
    ON plan_resource.run_key = run.run_key
WHERE run.status = 'published';
