CREATE OR REPLACE VIEW advisor.plan_step_latest AS
SELECT
    newest.started_at,
    newest.cluster,
    newest.run_id,
    plan_step.step,
    plan_step.kind,
    plan_step.first_wave,
    plan_step.last_wave,
    plan_step.partitions,
    plan_step.replica_moves,
    plan_step.bytes,
    plan_step.leader_changes,
    plan_step.seconds,
    plan_step.bytes_so_far,
    plan_step.lower_bound_bytes,
    plan_step.gap,
    plan_step.resource,
    plan_step.skew_before,
    plan_step.skew_after,
    plan_step.fullest_broker_before,
    plan_step.fullest_broker_after,
    plan_step.used_ratio_before,
    plan_step.used_ratio_after,
    plan_step.repairs
FROM store.newest_run AS newest
JOIN store.plan_step
    ON plan_step.run_key = newest.run_key;

COMMENT ON VIEW advisor.plan_step_latest IS 'Steps of the plan of the newest published advisory of each cluster.';
COMMENT ON COLUMN advisor.plan_step_latest.started_at IS 'Start of the advisory.';
COMMENT ON COLUMN advisor.plan_step_latest.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.plan_step_latest.run_id IS 'Id of the advisory.';
COMMENT ON COLUMN advisor.plan_step_latest.step IS 'Number of the step, from 1.';
COMMENT ON COLUMN advisor.plan_step_latest.kind IS 'elect, repair, relieve or even_out.';
COMMENT ON COLUMN advisor.plan_step_latest.first_wave IS 'First wave of the step.';
COMMENT ON COLUMN advisor.plan_step_latest.last_wave IS 'Last wave of the step.';
COMMENT ON COLUMN advisor.plan_step_latest.partitions IS 'Partitions that change in the step.';
COMMENT ON COLUMN advisor.plan_step_latest.replica_moves IS 'Replicas that are copied.';
COMMENT ON COLUMN advisor.plan_step_latest.bytes IS 'Bytes that are copied; NULL where sizes are unknown.';
COMMENT ON COLUMN advisor.plan_step_latest.leader_changes IS 'Leaders that change.';
COMMENT ON COLUMN advisor.plan_step_latest.seconds IS 'Time of its waves at the throttle; NULL where sizes are unknown.';
COMMENT ON COLUMN advisor.plan_step_latest.bytes_so_far IS 'Bytes of this step and of those before it; NULL where sizes are unknown.';
COMMENT ON COLUMN advisor.plan_step_latest.lower_bound_bytes IS 'Least bytes for this step and those before it: no plan copies less; NULL where sizes are unknown.';
COMMENT ON COLUMN advisor.plan_step_latest.gap IS '(bytes_so_far - lower_bound_bytes) / lower_bound_bytes; NULL where that is unknown, or where lower_bound_bytes is 0 and bytes_so_far is not.';
COMMENT ON COLUMN advisor.plan_step_latest.resource IS 'Resource that the step lowers; NULL for a repair.';
COMMENT ON COLUMN advisor.plan_step_latest.skew_before IS 'Skew of that resource before the step.';
COMMENT ON COLUMN advisor.plan_step_latest.skew_after IS 'Skew of that resource after the step.';
COMMENT ON COLUMN advisor.plan_step_latest.fullest_broker_before IS 'Broker with the highest level of that resource before the step; where a disk is relieved before it is full, its broker.';
COMMENT ON COLUMN advisor.plan_step_latest.fullest_broker_after IS 'Broker with the highest level of that resource after the step; where a disk is relieved before it is full, its broker.';
COMMENT ON COLUMN advisor.plan_step_latest.used_ratio_before IS 'Share of its capacity that the broker uses before the step; NULL where the capacity is unknown.';
COMMENT ON COLUMN advisor.plan_step_latest.used_ratio_after IS 'Share of its capacity that the broker uses after the step; NULL where the capacity is unknown.';
COMMENT ON COLUMN advisor.plan_step_latest.repairs IS 'Partitions that the step repairs, by the code of the fault.';
