CREATE OR REPLACE VIEW advisor.plan_resource_latest AS
SELECT
    newest.started_at,
    newest.cluster,
    newest.run_id,
    plan_resource.resource,
    plan_resource.unit,
    plan_resource.source,
    plan_resource.mean_level,
    plan_resource.basis,
    plan_resource.band_asked_low,
    plan_resource.band_asked_high,
    plan_resource.widened_low,
    plan_resource.widened_high,
    plan_resource.skew_before,
    plan_resource.skew_after,
    plan_resource.exclusion_reason_code,
    plan_resource.exclusion_reason_args,
    plan_resource.watched_broker,
    plan_resource.watched_load,
    plan_resource.watched_capacity,
    plan_resource.is_capacity_assumed
FROM store.newest_run AS newest
JOIN store.plan_resource
    ON plan_resource.run_key = newest.run_key;

COMMENT ON VIEW advisor.plan_resource_latest IS 'Resources of the plan, balanced or excluded and why, of the newest published advisory of each cluster.';
COMMENT ON COLUMN advisor.plan_resource_latest.started_at IS 'Start of the advisory.';
COMMENT ON COLUMN advisor.plan_resource_latest.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.plan_resource_latest.run_id IS 'Id of the advisory.';
COMMENT ON COLUMN advisor.plan_resource_latest.resource IS 'disk, in, out, cpu, replicas, leaders, leader_in or potential_out.';
COMMENT ON COLUMN advisor.plan_resource_latest.unit IS 'Unit of its loads.';
COMMENT ON COLUMN advisor.plan_resource_latest.source IS 'Source of its loads.';
COMMENT ON COLUMN advisor.plan_resource_latest.mean_level IS 'Plain mean.';
COMMENT ON COLUMN advisor.plan_resource_latest.basis IS 'Base of the band: fair_share or plain_mean.';
COMMENT ON COLUMN advisor.plan_resource_latest.band_asked_low IS 'Requested lower limit.';
COMMENT ON COLUMN advisor.plan_resource_latest.band_asked_high IS 'Requested upper limit.';
COMMENT ON COLUMN advisor.plan_resource_latest.widened_low IS 'Lower limit after widening; NULL where the band is met.';
COMMENT ON COLUMN advisor.plan_resource_latest.widened_high IS 'Upper limit after widening; NULL where the band is met.';
COMMENT ON COLUMN advisor.plan_resource_latest.skew_before IS 'Skew before the plan.';
COMMENT ON COLUMN advisor.plan_resource_latest.skew_after IS 'Skew after the plan.';
COMMENT ON COLUMN advisor.plan_resource_latest.exclusion_reason_code IS 'Why it is not balanced: code of a fact; NULL where it is balanced.';
COMMENT ON COLUMN advisor.plan_resource_latest.exclusion_reason_args IS 'Arguments of that fact; NULL where it is balanced.';
COMMENT ON COLUMN advisor.plan_resource_latest.watched_broker IS 'Fullest broker of a rate that is watched and not evened out; NULL where it is evened out.';
COMMENT ON COLUMN advisor.plan_resource_latest.watched_load IS 'Load of that broker, in the unit of the resource.';
COMMENT ON COLUMN advisor.plan_resource_latest.watched_capacity IS 'Load that this broker can carry, in the unit of the resource.';
COMMENT ON COLUMN advisor.plan_resource_latest.is_capacity_assumed IS 'True where the capacity is unknown: the load and the throttle together are assumed.';
