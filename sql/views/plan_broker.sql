CREATE OR REPLACE VIEW advisor.plan_broker AS
SELECT
    run.started_at,
    run.cluster,
    run.run_id,
    plan_broker.broker,
    plan_broker.resource,
    plan_broker.load_before,
    plan_broker.load_after,
    plan_broker.capacity
FROM store.run
JOIN store.plan_broker
    ON plan_broker.run_key = run.run_key AND plan_broker.started_at = run.started_at
WHERE run.status = 'published';

COMMENT ON VIEW advisor.plan_broker IS 'Load of each broker before and after every published plan.';
COMMENT ON COLUMN advisor.plan_broker.started_at IS 'Start of the advisory.';
COMMENT ON COLUMN advisor.plan_broker.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.plan_broker.run_id IS 'Id of the advisory.';
COMMENT ON COLUMN advisor.plan_broker.broker IS 'Broker id.';
COMMENT ON COLUMN advisor.plan_broker.resource IS 'Balanced resource.';
COMMENT ON COLUMN advisor.plan_broker.load_before IS 'Load before the plan.';
COMMENT ON COLUMN advisor.plan_broker.load_after IS 'Load after the plan.';
COMMENT ON COLUMN advisor.plan_broker.capacity IS 'Capacity; NULL where equal capacities are assumed.';
