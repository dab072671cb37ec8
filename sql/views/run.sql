CREATE OR REPLACE VIEW advisor.run AS
SELECT
    run.time,
    run.cluster,
    run.run_id,
    snapshot.snapshot_id,
    snapshot.time AS snapshot_time,
    run.published_at,
    run.parameters,
    run.seed,
    run.advisor_version,
    plan.verdict,
    plan.plan_id
FROM store.run
JOIN store.snapshot ON snapshot.snapshot_key = run.snapshot_key
JOIN store.plan ON plan.run_key = run.run_key
WHERE run.status = 'published';

COMMENT ON VIEW advisor.run IS 'Published advisories; one row each.';
COMMENT ON COLUMN advisor.run.time IS 'When the advisory was started.';
COMMENT ON COLUMN advisor.run.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.run.run_id IS 'Stable id of the advisory.';
COMMENT ON COLUMN advisor.run.snapshot_id IS 'The reading it rests on.';
COMMENT ON COLUMN advisor.run.snapshot_time IS 'When the cluster was read.';
COMMENT ON COLUMN advisor.run.published_at IS 'When it became visible.';
COMMENT ON COLUMN advisor.run.parameters IS 'What was asked: tolerance, budgets, brokers, topics.';
COMMENT ON COLUMN advisor.run.seed IS 'Seed of every random choice.';
COMMENT ON COLUMN advisor.run.advisor_version IS 'Version that made it.';
COMMENT ON COLUMN advisor.run.verdict IS 'rebalance, nothing_to_do, cannot_tell, infeasible or not_fixable_by_moving.';
COMMENT ON COLUMN advisor.run.plan_id IS 'sha256 of plan.json.';
