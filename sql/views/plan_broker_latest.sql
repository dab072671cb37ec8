CREATE OR REPLACE VIEW advisor.plan_broker_latest AS
SELECT
    newest.time,
    newest.cluster,
    newest.run_id,
    each.broker,
    each.resource,
    each.before,
    each.after,
    each.capacity
FROM store.newest_run AS newest
JOIN store.plan_broker AS each
    ON each.run_key = newest.run_key AND each.time = newest.time;

COMMENT ON VIEW advisor.plan_broker_latest IS 'Load of each broker before and after the plan, of the newest published advisory of each cluster.';
COMMENT ON COLUMN advisor.plan_broker_latest.time IS 'When the advisory was started.';
COMMENT ON COLUMN advisor.plan_broker_latest.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.plan_broker_latest.run_id IS 'The advisory that says so.';
COMMENT ON COLUMN advisor.plan_broker_latest.broker IS 'Broker id.';
COMMENT ON COLUMN advisor.plan_broker_latest.resource IS 'Balanced resource.';
COMMENT ON COLUMN advisor.plan_broker_latest.before IS 'Load today.';
COMMENT ON COLUMN advisor.plan_broker_latest.after IS 'Load after the plan.';
COMMENT ON COLUMN advisor.plan_broker_latest.capacity IS 'What it can carry; NULL where equal capacities are assumed.';
