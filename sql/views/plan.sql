CREATE OR REPLACE VIEW advisor.plan AS
SELECT
    run.started_at,
    run.cluster,
    run.run_id,
    plan.plan_id,
    plan.verdict,
    plan.reasons,
    plan.expires_at,
    plan.replica_moves,
    plan.bytes,
    plan.leader_changes,
    plan.seconds,
    plan.seconds_slot_filling,
    plan.continues,
    plan.document
FROM store.run
JOIN store.plan
    ON plan.run_key = run.run_key
WHERE run.status = 'published';

COMMENT ON VIEW advisor.plan IS 'Plans of published advisories; one row each.';
COMMENT ON COLUMN advisor.plan.started_at IS 'Start of the advisory.';
COMMENT ON COLUMN advisor.plan.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.plan.run_id IS 'Id of the advisory.';
COMMENT ON COLUMN advisor.plan.plan_id IS 'sha256 of plan.json without plan_id.';
COMMENT ON COLUMN advisor.plan.verdict IS 'rebalance, nothing_to_do, cannot_tell, infeasible or not_fixable_by_moving.';
COMMENT ON COLUMN advisor.plan.reasons IS 'Why: a list of facts, each with code and args.';
COMMENT ON COLUMN advisor.plan.expires_at IS 'End of validity: do not execute the plan later.';
COMMENT ON COLUMN advisor.plan.replica_moves IS 'Replicas that are copied.';
COMMENT ON COLUMN advisor.plan.bytes IS 'Bytes that are copied; NULL where sizes are unknown.';
COMMENT ON COLUMN advisor.plan.leader_changes IS 'Leaders that change.';
COMMENT ON COLUMN advisor.plan.seconds IS 'Time at the throttle, wave after wave.';
COMMENT ON COLUMN advisor.plan.seconds_slot_filling IS 'Time for a driver that keeps slots full.';
COMMENT ON COLUMN advisor.plan.continues IS 'plan_id of the earlier plan that this one confirms or continues.';
COMMENT ON COLUMN advisor.plan.document IS 'plan.json, byte for byte.';
