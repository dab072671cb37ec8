CREATE OR REPLACE VIEW advisor.broker_score AS
SELECT
    run.time,
    run.cluster,
    run.run_id,
    each.broker,
    each.rack,
    each.resource,
    each.unit,
    each.load,
    each.capacity,
    each.level,
    each.over_mean,
    each.fair_share,
    each.source,
    each.stays
FROM store.run
JOIN store.broker_score AS each
    ON each.run_key = run.run_key AND each.time = run.time
WHERE run.status = 'published';

COMMENT ON VIEW advisor.broker_score IS 'Load and level of each broker and resource, in every published advisory.';
COMMENT ON COLUMN advisor.broker_score.time IS 'When the advisory was started.';
COMMENT ON COLUMN advisor.broker_score.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.broker_score.run_id IS 'The advisory that says so.';
COMMENT ON COLUMN advisor.broker_score.broker IS 'Broker id.';
COMMENT ON COLUMN advisor.broker_score.rack IS 'Rack.';
COMMENT ON COLUMN advisor.broker_score.resource IS 'disk, in, out, cpu, replicas or leaders.';
COMMENT ON COLUMN advisor.broker_score.unit IS 'Unit of load and level: bytes, bytes/s, percent or count.';
COMMENT ON COLUMN advisor.broker_score.load IS 'What it carries.';
COMMENT ON COLUMN advisor.broker_score.capacity IS 'What it can carry; NULL where unknown, 1 is then used.';
COMMENT ON COLUMN advisor.broker_score.level IS 'load / capacity.';
COMMENT ON COLUMN advisor.broker_score.over_mean IS 'level / plain mean: the skew is the highest one.';
COMMENT ON COLUMN advisor.broker_score.fair_share IS 'Level that racks allow it; the plain mean unless racks keep it below or above.';
COMMENT ON COLUMN advisor.broker_score.source IS 'Where the load comes from.';
COMMENT ON COLUMN advisor.broker_score.stays IS 'Part of the cluster after the plan: not dead, fenced or draining.';
