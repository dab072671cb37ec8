CREATE OR REPLACE VIEW advisor.rack_score AS
SELECT
    run.time,
    run.cluster,
    run.run_id,
    each.rack,
    each.resource,
    each.unit,
    each.brokers,
    each.load,
    each.capacity,
    each.level,
    each.over_mean
FROM store.run
JOIN store.rack_score AS each
    ON each.run_key = run.run_key
WHERE run.status = 'published';

COMMENT ON VIEW advisor.rack_score IS 'Load and level of each rack and resource, in every published advisory.';
COMMENT ON COLUMN advisor.rack_score.time IS 'When the advisory was started.';
COMMENT ON COLUMN advisor.rack_score.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.rack_score.run_id IS 'The advisory that says so.';
COMMENT ON COLUMN advisor.rack_score.rack IS 'Rack.';
COMMENT ON COLUMN advisor.rack_score.resource IS 'disk, in, out, cpu, replicas or leaders.';
COMMENT ON COLUMN advisor.rack_score.unit IS 'Unit of load and level: bytes, bytes/s, percent or count.';
COMMENT ON COLUMN advisor.rack_score.brokers IS 'Brokers that stay in it.';
COMMENT ON COLUMN advisor.rack_score.load IS 'What it carries.';
COMMENT ON COLUMN advisor.rack_score.capacity IS 'What it can carry; NULL where unknown, 1 is then used.';
COMMENT ON COLUMN advisor.rack_score.level IS 'load / capacity.';
COMMENT ON COLUMN advisor.rack_score.over_mean IS 'level / plain mean: the skew is the highest one.';
