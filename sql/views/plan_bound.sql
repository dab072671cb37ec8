CREATE OR REPLACE VIEW advisor.plan_bound AS
SELECT
    run.time,
    run.cluster,
    run.run_id,
    each.cost,
    each.value,
    each.gap,
    each.proof
FROM store.run
JOIN store.plan_bound AS each
    ON each.run_key = run.run_key
WHERE run.status = 'published';
