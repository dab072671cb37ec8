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

COMMENT ON VIEW advisor.plan_broker IS 'Load of each broker before and after every published plan.';
COMMENT ON COLUMN advisor.plan_broker.time IS 'When the advisory was started.';
COMMENT ON COLUMN advisor.plan_broker.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.plan_broker.run_id IS 'The advisory that says so.';
COMMENT ON COLUMN advisor.plan_broker.broker IS 'Broker id.';
COMMENT ON COLUMN advisor.plan_broker.resource IS 'Balanced resource.';
COMMENT ON COLUMN advisor.plan_broker.before IS 'Load today.';
COMMENT ON COLUMN advisor.plan_broker.after IS 'Load after the plan.';
COMMENT ON COLUMN advisor.plan_broker.capacity IS 'What it can carry; NULL where equal capacities are assumed.';
