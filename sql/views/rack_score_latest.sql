CREATE OR REPLACE VIEW advisor.rack_score_latest AS
SELECT
    newest.time,
    newest.cluster,
    newest.run_id,
    each.rack,
    each.resource,
    each.unit,
    each.brokers,
    each.load,
    each.capacity,
    each.level,
    each.over_mean
FROM store.newest_run AS newest
JOIN store.rack_score AS each
    ON each.run_key = newest.run_key;

COMMENT ON VIEW advisor.rack_score_latest IS 'Load and level of each rack and resource, of the newest published advisory of each cluster.';
COMMENT ON COLUMN advisor.rack_score_latest.time IS 'When the advisory was started.';
COMMENT ON COLUMN advisor.rack_score_latest.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.rack_score_latest.run_id IS 'The advisory that says so.';
COMMENT ON COLUMN advisor.rack_score_latest.rack IS 'Rack.';
COMMENT ON COLUMN advisor.rack_score_latest.resource IS 'disk, in, out, cpu, replicas or leaders.';
COMMENT ON COLUMN advisor.rack_score_latest.unit IS 'Unit of load and level: bytes, bytes/s, percent or count.';
COMMENT ON COLUMN advisor.rack_score_latest.brokers IS 'Brokers that stay in it.';
COMMENT ON COLUMN advisor.rack_score_latest.load IS 'What it carries.';
COMMENT ON COLUMN advisor.rack_score_latest.capacity IS 'What it can carry; NULL where unknown, 1 is then used.';
COMMENT ON COLUMN advisor.rack_score_latest.level IS 'load / capacity.';
COMMENT ON COLUMN advisor.rack_score_latest.over_mean IS 'level / plain mean: the skew is the highest one.';
