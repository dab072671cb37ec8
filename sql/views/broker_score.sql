CREATE OR REPLACE VIEW advisor.broker_score AS
SELECT
    run.started_at,
    run.cluster,
    run.run_id,
    broker_score.broker,
    broker_score.rack,
    broker_score.resource,
    broker_score.unit,
    broker_score.load,
    broker_score.capacity,
    broker_score.level,
    broker_score.level_to_mean_ratio,
    broker_score.fair_share,
    broker_score.source,
    broker_score.remains_in_cluster
FROM store.run
JOIN store.broker_score
    ON broker_score.run_key = run.run_key AND broker_score.started_at = run.started_at
WHERE run.status = 'published';

COMMENT ON VIEW advisor.broker_score IS 'Load and level of each broker and resource, in every published advisory.';
COMMENT ON COLUMN advisor.broker_score.started_at IS 'Start of the advisory.';
COMMENT ON COLUMN advisor.broker_score.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.broker_score.run_id IS 'Id of the advisory.';
COMMENT ON COLUMN advisor.broker_score.broker IS 'Broker id.';
COMMENT ON COLUMN advisor.broker_score.rack IS 'Rack.';
COMMENT ON COLUMN advisor.broker_score.resource IS 'disk, in, out, cpu, replicas, leaders, leader_in or potential_out.';
COMMENT ON COLUMN advisor.broker_score.unit IS 'Unit of load and level: bytes, bytes/s, percent or count.';
COMMENT ON COLUMN advisor.broker_score.load IS 'Load.';
COMMENT ON COLUMN advisor.broker_score.capacity IS 'Capacity; NULL where unknown, 1 is then used.';
COMMENT ON COLUMN advisor.broker_score.level IS 'load / capacity.';
COMMENT ON COLUMN advisor.broker_score.level_to_mean_ratio IS 'level / plain mean; the skew is the highest of a resource.';
COMMENT ON COLUMN advisor.broker_score.fair_share IS 'Share by capacity as far as racks allow it; the plain mean unless racks keep it below or above.';
COMMENT ON COLUMN advisor.broker_score.source IS 'Source of the load.';
COMMENT ON COLUMN advisor.broker_score.remains_in_cluster IS 'Part of the cluster after the plan: not dead, fenced or draining.';
