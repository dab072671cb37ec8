CREATE OR REPLACE VIEW advisor.plan_broker AS
SELECT
    run.time,
    run.cluster,
    run.run_id,
    plan_broker.broker,
    plan_broker.resource,
    plan_broker.before,
    plan_broker.after,
    plan_broker.capacity
FROM store.run
JOIN store.plan_broker
    ON plan_broker.run_key = run.run_key AND plan_broker.time = run.time
WHERE run.status = 'published';
