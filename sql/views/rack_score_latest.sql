CREATE OR REPLACE VIEW advisor.rack_score_latest AS
SELECT
    newest.started_at,
    newest.cluster,
    newest.run_id,
    rack_score.rack,
    rack_score.resource,
    rack_score.unit,
    rack_score.brokers,
    rack_score.load,
    rack_score.capacity,
    rack_score.level,
    rack_score.level_to_mean_ratio
FROM store.newest_run AS newest
JOIN store.rack_score
    ON rack_score.run_key = newest.run_key;

COMMENT ON VIEW advisor.rack_score_latest IS 'Load and level of each rack and resource, of the newest published advisory of each cluster.';
COMMENT ON COLUMN advisor.rack_score_latest.started_at IS 'Start of the advisory.';
COMMENT ON COLUMN advisor.rack_score_latest.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.rack_score_latest.run_id IS 'Id of the advisory.';
COMMENT ON COLUMN advisor.rack_score_latest.rack IS 'Rack.';
COMMENT ON COLUMN advisor.rack_score_latest.resource IS 'disk, in, out, cpu, replicas, leaders, leader_in or potential_out.';
COMMENT ON COLUMN advisor.rack_score_latest.unit IS 'Unit of load and level: bytes, bytes/s, percent or count.';
COMMENT ON COLUMN advisor.rack_score_latest.brokers IS 'Brokers of the rack that remain in the cluster.';
COMMENT ON COLUMN advisor.rack_score_latest.load IS 'Load.';
COMMENT ON COLUMN advisor.rack_score_latest.capacity IS 'Capacity; NULL where unknown, 1 is then used.';
COMMENT ON COLUMN advisor.rack_score_latest.level IS 'load / capacity.';
COMMENT ON COLUMN advisor.rack_score_latest.level_to_mean_ratio IS 'level / plain mean; the skew is the highest of a resource.';
