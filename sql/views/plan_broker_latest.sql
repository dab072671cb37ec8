CREATE OR REPLACE VIEW advisor.plan_broker_latest AS
SELECT
    newest.started_at,
    newest.cluster,
    newest.run_id,
    plan_broker.broker,
    plan_broker.resource,
    plan_broker.load_before,
    plan_broker.load_after,
    plan_broker.capacity
FROM store.newest_run AS newest
JOIN store.plan_broker
    ON plan_broker.run_key = newest.run_key AND plan_broker.started_at = newest.started_at;

COMMENT ON VIEW advisor.plan_broker_latest IS 'Load of each broker before and after the plan, of the newest published advisory of each cluster.';
COMMENT ON COLUMN advisor.plan_broker_latest.started_at IS 'Start of the advisory.';
COMMENT ON COLUMN advisor.plan_broker_latest.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.plan_broker_latest.run_id IS 'Id of the advisory.';
COMMENT ON COLUMN advisor.plan_broker_latest.broker IS 'Broker id.';
COMMENT ON COLUMN advisor.plan_broker_latest.resource IS 'Balanced resource.';
COMMENT ON COLUMN advisor.plan_broker_latest.load_before IS 'Load before the plan.';
COMMENT ON COLUMN advisor.plan_broker_latest.load_after IS 'Load after the plan.';
COMMENT ON COLUMN advisor.plan_broker_latest.capacity IS 'Capacity; NULL where equal capacities are assumed.';
