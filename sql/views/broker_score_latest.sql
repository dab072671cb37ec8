CREATE OR REPLACE VIEW advisor.broker_score_latest AS
SELECT
    newest.time,
    newest.cluster,
    newest.run_id,
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
FROM store.newest_run AS newest
JOIN store.broker_score AS each
    ON each.run_key = newest.run_key AND each.time = newest.time;

COMMENT ON VIEW advisor.broker_score_latest IS 'Load and level of each broker and resource, of the newest published advisory of each cluster.';
COMMENT ON COLUMN advisor.broker_score_latest.time IS 'When the advisory was started.';
COMMENT ON COLUMN advisor.broker_score_latest.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.broker_score_latest.run_id IS 'The advisory that says so.';
COMMENT ON COLUMN advisor.broker_score_latest.broker IS 'Broker id.';
COMMENT ON COLUMN advisor.broker_score_latest.rack IS 'Rack.';
COMMENT ON COLUMN advisor.broker_score_latest.resource IS 'disk, in, out, cpu, replicas or leaders.';
COMMENT ON COLUMN advisor.broker_score_latest.unit IS 'Unit of load and level: bytes, bytes/s, percent or count.';
COMMENT ON COLUMN advisor.broker_score_latest.load IS 'What it carries.';
COMMENT ON COLUMN advisor.broker_score_latest.capacity IS 'What it can carry; NULL where unknown, 1 is then used.';
COMMENT ON COLUMN advisor.broker_score_latest.level IS 'load / capacity.';
COMMENT ON COLUMN advisor.broker_score_latest.over_mean IS 'level / plain mean: the skew is the highest one.';
COMMENT ON COLUMN advisor.broker_score_latest.fair_share IS 'Level that racks allow it; the plain mean unless racks keep it below or above.';
COMMENT ON COLUMN advisor.broker_score_latest.source IS 'Where the load comes from.';
COMMENT ON COLUMN advisor.broker_score_latest.stays IS 'Part of the cluster after the plan: not dead, fenced or draining.';
