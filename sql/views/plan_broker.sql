CREATE OR REPLACE VIEW advisor.plan_broker AS
SELECT
    run.time,
    run.cluster,
    run.run_id,
    each.broker,
    each.resource,
    each.before,
    each.after,
    each.capacity
FROM store.run
JOIN store.plan_broker AS each
    ON each.run_key = run.run_key AND each.time = run.time
WHERE run.status = 'published';
