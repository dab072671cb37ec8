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

COMMENT ON VIEW advisor.plan_bound IS 'Proven lower bounds of every published plan.';
COMMENT ON COLUMN advisor.plan_bound.time IS 'When the advisory was started.';
COMMENT ON COLUMN advisor.plan_bound.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.plan_bound.run_id IS 'The advisory that says so.';
COMMENT ON COLUMN advisor.plan_bound.cost IS 'bytes, replica_moves, leader_changes or seconds.';
COMMENT ON COLUMN advisor.plan_bound.value IS 'Nobody can do it for less.';
COMMENT ON COLUMN advisor.plan_bound.gap IS '(cost - value) / value; NULL where value is 0 and cost is not.';
COMMENT ON COLUMN advisor.plan_bound.proof IS 'How it was proved.';
