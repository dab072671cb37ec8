CREATE OR REPLACE VIEW advisor.plan_bound_latest AS
SELECT
    newest.time,
    newest.cluster,
    newest.run_id,
    each.cost,
    each.value,
    each.gap,
    each.proof
FROM store.newest_run AS newest
JOIN store.plan_bound AS each
    ON each.run_key = newest.run_key;

COMMENT ON VIEW advisor.plan_bound_latest IS 'Proven lower bounds of the plan of the newest published advisory of each cluster.';
COMMENT ON COLUMN advisor.plan_bound_latest.time IS 'When the advisory was started.';
COMMENT ON COLUMN advisor.plan_bound_latest.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.plan_bound_latest.run_id IS 'The advisory that says so.';
COMMENT ON COLUMN advisor.plan_bound_latest.cost IS 'bytes, replica_moves, leader_changes or seconds.';
COMMENT ON COLUMN advisor.plan_bound_latest.value IS 'Nobody can do it for less.';
COMMENT ON COLUMN advisor.plan_bound_latest.gap IS '(cost - value) / value; NULL where value is 0 and cost is not.';
COMMENT ON COLUMN advisor.plan_bound_latest.proof IS 'How it was proved.';
