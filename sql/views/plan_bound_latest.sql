CREATE OR REPLACE VIEW advisor.plan_bound_latest AS
SELECT
    newest.started_at,
    newest.cluster,
    newest.run_id,
    plan_bound.cost,
    plan_bound.value,
    plan_bound.gap,
    plan_bound.proof
FROM store.newest_run AS newest
JOIN store.plan_bound
    ON plan_bound.run_key = newest.run_key;

COMMENT ON VIEW advisor.plan_bound_latest IS 'Proven lower bounds of the plan of the newest published advisory of each cluster.';
COMMENT ON COLUMN advisor.plan_bound_latest.started_at IS 'Start of the advisory.';
COMMENT ON COLUMN advisor.plan_bound_latest.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.plan_bound_latest.run_id IS 'Id of the advisory.';
COMMENT ON COLUMN advisor.plan_bound_latest.cost IS 'bytes, replica_moves, leader_changes or seconds.';
COMMENT ON COLUMN advisor.plan_bound_latest.value IS 'Lower bound: no plan costs less.';
COMMENT ON COLUMN advisor.plan_bound_latest.gap IS '(cost - value) / value; NULL where value is 0 and cost is not.';
COMMENT ON COLUMN advisor.plan_bound_latest.proof IS 'Code of the proof.';
