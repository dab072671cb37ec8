CREATE OR REPLACE VIEW advisor.rack_score AS
SELECT
    run.started_at,
    run.cluster,
    run.run_id,
    rack_score.rack,
    rack_score.resource,
    rack_score.unit,
    rack_score.brokers,
    rack_score.load,
    rack_score.capacity,
    rack_score.level,
    rack_score.level_to_mean_ratio
FROM store.run
JOIN store.rack_score
    ON rack_score.run_key = run.run_key
WHERE run.status = 'published';

COMMENT ON VIEW advisor.rack_score IS 'Load and level of each rack and resource, in every published advisory.';
COMMENT ON COLUMN advisor.rack_score.started_at IS 'Start of the advisory.';
COMMENT ON COLUMN advisor.rack_score.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.rack_score.run_id IS 'Id of the advisory.';
COMMENT ON COLUMN advisor.rack_score.rack IS 'Rack.';
COMMENT ON COLUMN advisor.rack_score.resource IS 'disk, in, out, cpu, replicas, leaders, leader_in or potential_out.';
COMMENT ON COLUMN advisor.rack_score.unit IS 'Unit of load and level: bytes, bytes/s, percent or count.';
COMMENT ON COLUMN advisor.rack_score.brokers IS 'Brokers of the rack that remain in the cluster.';
COMMENT ON COLUMN advisor.rack_score.load IS 'Load.';
COMMENT ON COLUMN advisor.rack_score.capacity IS 'Capacity; NULL where unknown, 1 is then used.';
COMMENT ON COLUMN advisor.rack_score.level IS 'load / capacity.';
COMMENT ON COLUMN advisor.rack_score.level_to_mean_ratio IS 'level / plain mean; the skew is the highest of a resource.';
