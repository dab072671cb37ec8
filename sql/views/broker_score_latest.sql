CREATE OR REPLACE VIEW advisor.broker_score_latest AS
SELECT
    newest.started_at,
    newest.cluster,
    newest.run_id,
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
FROM store.newest_run AS newest
JOIN store.broker_score
    ON broker_score.run_key = newest.run_key AND broker_score.started_at = newest.started_at;

COMMENT ON VIEW advisor.broker_score_latest IS 'Load and level of each broker and resource, of the newest published advisory of each cluster.';
COMMENT ON COLUMN advisor.broker_score_latest.started_at IS 'Start of the advisory.';
COMMENT ON COLUMN advisor.broker_score_latest.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.broker_score_latest.run_id IS 'Id of the advisory.';
COMMENT ON COLUMN advisor.broker_score_latest.broker IS 'Broker id.';
COMMENT ON COLUMN advisor.broker_score_latest.rack IS 'Rack.';
COMMENT ON COLUMN advisor.broker_score_latest.resource IS 'disk, in, out, cpu, replicas, leaders, leader_in or potential_out.';
COMMENT ON COLUMN advisor.broker_score_latest.unit IS 'Unit of load and level: bytes, bytes/s, percent or count.';
COMMENT ON COLUMN advisor.broker_score_latest.load IS 'Load.';
COMMENT ON COLUMN advisor.broker_score_latest.capacity IS 'Capacity; NULL where unknown, 1 is then used.';
COMMENT ON COLUMN advisor.broker_score_latest.level IS 'load / capacity.';
COMMENT ON COLUMN advisor.broker_score_latest.level_to_mean_ratio IS 'level / plain mean; the skew is the highest of a resource.';
COMMENT ON COLUMN advisor.broker_score_latest.fair_share IS 'Share by capacity as far as racks allow it; the plain mean unless racks keep it below or above.';
COMMENT ON COLUMN advisor.broker_score_latest.source IS 'Source of the load.';
COMMENT ON COLUMN advisor.broker_score_latest.remains_in_cluster IS 'Part of the cluster after the plan: not dead, fenced or draining.';
