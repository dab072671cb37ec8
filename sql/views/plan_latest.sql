CREATE OR REPLACE VIEW advisor.plan_latest AS
SELECT
    newest.started_at,
    newest.cluster,
    newest.run_id,
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
FROM store.newest_run AS newest
JOIN store.plan
    ON plan.run_key = newest.run_key;

COMMENT ON VIEW advisor.plan_latest IS 'The plan of the newest published advisory of each cluster.';
COMMENT ON COLUMN advisor.plan_latest.started_at IS 'Start of the advisory.';
COMMENT ON COLUMN advisor.plan_latest.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.plan_latest.run_id IS 'Id of the advisory.';
COMMENT ON COLUMN advisor.plan_latest.plan_id IS 'sha256 of plan.json without plan_id.';
COMMENT ON COLUMN advisor.plan_latest.verdict IS 'rebalance, nothing_to_do, cannot_tell, infeasible or not_fixable_by_moving.';
COMMENT ON COLUMN advisor.plan_latest.reasons IS 'Why: a list of facts, each with code and args.';
COMMENT ON COLUMN advisor.plan_latest.expires_at IS 'End of validity: do not execute the plan later.';
COMMENT ON COLUMN advisor.plan_latest.replica_moves IS 'Replicas that are copied.';
COMMENT ON COLUMN advisor.plan_latest.bytes IS 'Bytes that are copied; NULL where sizes are unknown.';
COMMENT ON COLUMN advisor.plan_latest.leader_changes IS 'Leaders that change.';
COMMENT ON COLUMN advisor.plan_latest.seconds IS 'Time at the throttle, wave after wave.';
COMMENT ON COLUMN advisor.plan_latest.seconds_slot_filling IS 'Time for a driver that keeps slots full.';
COMMENT ON COLUMN advisor.plan_latest.continues IS 'plan_id of the earlier plan that this one confirms or continues.';
COMMENT ON COLUMN advisor.plan_latest.document IS 'plan.json, byte for byte.';
