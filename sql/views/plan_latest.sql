CREATE OR REPLACE VIEW advisor.plan_latest AS
SELECT
    newest.time,
    newest.cluster,
    newest.run_id,
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
FROM store.newest_run AS newest
JOIN store.plan AS each
    ON each.run_key = newest.run_key;

COMMENT ON VIEW advisor.plan_latest IS 'The plan of the newest published advisory of each cluster.';
COMMENT ON COLUMN advisor.plan_latest.time IS 'When the advisory was started.';
COMMENT ON COLUMN advisor.plan_latest.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.plan_latest.run_id IS 'The advisory that says so.';
COMMENT ON COLUMN advisor.plan_latest.plan_id IS 'sha256 of plan.json without plan_id.';
COMMENT ON COLUMN advisor.plan_latest.verdict IS 'rebalance, nothing_to_do, cannot_tell, infeasible or not_fixable_by_moving.';
COMMENT ON COLUMN advisor.plan_latest.reasons IS 'Why, in words.';
COMMENT ON COLUMN advisor.plan_latest.expires_at IS 'Not to be executed later than this.';
COMMENT ON COLUMN advisor.plan_latest.replica_moves IS 'Replicas that are copied.';
COMMENT ON COLUMN advisor.plan_latest.bytes IS 'Bytes that are copied; NULL where sizes are unknown.';
COMMENT ON COLUMN advisor.plan_latest.leader_changes IS 'Leaders that change.';
COMMENT ON COLUMN advisor.plan_latest.seconds IS 'Time at the throttle, wave after wave.';
COMMENT ON COLUMN advisor.plan_latest.seconds_slot_filling IS 'Time for a driver that keeps slots full.';
COMMENT ON COLUMN advisor.plan_latest.continues IS 'plan_id of the earlier plan that this one confirms or continues.';
COMMENT ON COLUMN advisor.plan_latest.document IS 'plan.json, byte for byte.';
