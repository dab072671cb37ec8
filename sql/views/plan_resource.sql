CREATE OR REPLACE VIEW advisor.plan_resource AS
SELECT
    run.time,
    run.cluster,
    run.run_id,
    each.resource,
    each.unit,
    each.source,
    each.mean_level,
    each.basis,
    each.band_asked_low,
    each.band_asked_high,
    each.widened_low,
    each.widened_high,
    each.skew_before,
    each.skew_after,
    each.left_out_because
FROM store.run
JOIN store.plan_resource AS each
    ON each.run_key = run.run_key
WHERE run.status = 'published';

COMMENT ON VIEW advisor.plan_resource IS 'Resources of every published plan: balanced, or left out and why.';
COMMENT ON COLUMN advisor.plan_resource.time IS 'When the advisory was started.';
COMMENT ON COLUMN advisor.plan_resource.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.plan_resource.run_id IS 'The advisory that says so.';
COMMENT ON COLUMN advisor.plan_resource.resource IS 'disk, in, out, cpu, replicas or leaders.';
COMMENT ON COLUMN advisor.plan_resource.unit IS 'Unit of its loads.';
COMMENT ON COLUMN advisor.plan_resource.source IS 'Where its loads come from.';
COMMENT ON COLUMN advisor.plan_resource.mean_level IS 'Plain mean.';
COMMENT ON COLUMN advisor.plan_resource.basis IS 'fair_share or plain_mean: what the band is a multiple of.';
COMMENT ON COLUMN advisor.plan_resource.band_asked_low IS 'Lower limit asked for.';
COMMENT ON COLUMN advisor.plan_resource.band_asked_high IS 'Upper limit asked for.';
COMMENT ON COLUMN advisor.plan_resource.widened_low IS 'Lower limit after widening; NULL where the band is met.';
COMMENT ON COLUMN advisor.plan_resource.widened_high IS 'Upper limit after widening; NULL where the band is met.';
COMMENT ON COLUMN advisor.plan_resource.skew_before IS 'Skew today.';
COMMENT ON COLUMN advisor.plan_resource.skew_after IS 'Skew after the plan.';
COMMENT ON COLUMN advisor.plan_resource.left_out_because IS 'Why it is not balanced; NULL where it is.';
