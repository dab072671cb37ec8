CREATE OR REPLACE VIEW advisor.plan_bound AS
SELECT
    run.time,
    run.cluster,
    run.run_id,
    plan_bound.cost,
    plan_bound.value,
    plan_bound.gap,
    plan_bound.proof
FROM store.run
JOIN store.plan_bound
    ON plan_bound.run_key = run.run_key
WHERE run.status = 'published';
