CREATE OR REPLACE VIEW advisor.plan_bound AS
SELECT
    run.started_at,
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

COMMENT ON VIEW advisor.plan_bound IS 'Proven lower bounds of every published plan.';
COMMENT ON COLUMN advisor.plan_bound.started_at IS 'Start of the advisory.';
COMMENT ON COLUMN advisor.plan_bound.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.plan_bound.run_id IS 'Id of the advisory.';
COMMENT ON COLUMN advisor.plan_bound.cost IS 'bytes, replica_moves, leader_changes or seconds.';
COMMENT ON COLUMN advisor.plan_bound.value IS 'Lower bound: no plan costs less.';
COMMENT ON COLUMN advisor.plan_bound.gap IS '(cost - value) / value; NULL where value is 0 and cost is not.';
COMMENT ON COLUMN advisor.plan_bound.proof IS 'Code of the proof.';
