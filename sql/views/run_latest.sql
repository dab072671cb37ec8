CREATE OR REPLACE VIEW advisor.run_latest AS
SELECT
    run.started_at,
    run.cluster,
    run.run_id,
    snapshot.snapshot_id,
    snapshot.captured_at AS snapshot_captured_at,
    run.published_at,
    run.parameters,
    run.seed,
    run.advisor_version,
    plan.verdict,
    plan.plan_id
FROM store.newest_run AS newest
JOIN store.run ON run.run_key = newest.run_key
JOIN store.snapshot ON snapshot.snapshot_key = run.snapshot_key
JOIN store.plan ON plan.run_key = run.run_key;

COMMENT ON VIEW advisor.run_latest IS 'The newest published advisory of each cluster.';
COMMENT ON COLUMN advisor.run_latest.started_at IS 'Start of the advisory.';
COMMENT ON COLUMN advisor.run_latest.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.run_latest.run_id IS 'Id of the advisory.';
COMMENT ON COLUMN advisor.run_latest.snapshot_id IS 'Snapshot of the advisory.';
COMMENT ON COLUMN advisor.run_latest.snapshot_captured_at IS 'Time of the snapshot.';
COMMENT ON COLUMN advisor.run_latest.published_at IS 'Publication.';
COMMENT ON COLUMN advisor.run_latest.parameters IS 'Options of the request: tolerance, budgets, brokers, topics.';
COMMENT ON COLUMN advisor.run_latest.seed IS 'Seed of every random choice.';
COMMENT ON COLUMN advisor.run_latest.advisor_version IS 'Version of the advisor.';
COMMENT ON COLUMN advisor.run_latest.verdict IS 'rebalance, nothing_to_do, cannot_tell, infeasible or not_fixable_by_moving.';
COMMENT ON COLUMN advisor.run_latest.plan_id IS 'sha256 of plan.json.';
