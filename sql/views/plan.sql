CREATE OR REPLACE VIEW advisor.plan AS
SELECT
    run.time,
    run.cluster,
    run.run_id,
    each.plan_id,
    each.verdict,
    each.reasons,
    each.expires_at,
    each.replica_moves,
    each.bytes,
    each.leader_changes,
    each.seconds,
    each.seconds_slot_filling,
    each.continues,
    each.document
FROM store.run
JOIN store.plan AS each
    ON each.run_key = run.run_key
WHERE run.status = 'published';

COMMENT ON VIEW advisor.plan IS 'Plans of published advisories; one row each.';
COMMENT ON COLUMN advisor.plan.time IS 'When the advisory was started.';
COMMENT ON COLUMN advisor.plan.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.plan.run_id IS 'The advisory that says so.';
COMMENT ON COLUMN advisor.plan.plan_id IS 'sha256 of plan.json without plan_id.';
COMMENT ON COLUMN advisor.plan.verdict IS 'rebalance, nothing_to_do, cannot_tell, infeasible or not_fixable_by_moving.';
COMMENT ON COLUMN advisor.plan.reasons IS 'Why, in words.';
COMMENT ON COLUMN advisor.plan.expires_at IS 'Not to be executed later than this.';
COMMENT ON COLUMN advisor.plan.replica_moves IS 'Replicas that are copied.';
COMMENT ON COLUMN advisor.plan.bytes IS 'Bytes that are copied; NULL where sizes are unknown.';
COMMENT ON COLUMN advisor.plan.leader_changes IS 'Leaders that change.';
COMMENT ON COLUMN advisor.plan.seconds IS 'Time at the throttle, wave after wave.';
COMMENT ON COLUMN advisor.plan.seconds_slot_filling IS 'Time for a driver that keeps slots full.';
COMMENT ON COLUMN advisor.plan.continues IS 'plan_id of the earlier plan that this one confirms or continues.';
COMMENT ON COLUMN advisor.plan.document IS 'plan.json, byte for byte.';
