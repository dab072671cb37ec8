CREATE OR REPLACE VIEW advisor.broker_level_latest AS
SELECT
    newest.captured_at,
    newest.cluster,
    newest.snapshot_id,
    broker_level.broker,
    broker_level.rack,
    broker_level.resource,
    broker_level.unit,
    broker_level.load,
    broker_level.capacity,
    broker_level.level,
    broker_level.level_to_mean_ratio,
    broker_level.remains_in_cluster
FROM store.newest_snapshot AS newest
JOIN store.broker_level
    ON broker_level.snapshot_key = newest.snapshot_key AND broker_level.captured_at = newest.captured_at;

COMMENT ON VIEW advisor.broker_level_latest IS 'Load and level of each broker and resource, in the newest snapshot of each cluster.';
COMMENT ON COLUMN advisor.broker_level_latest.captured_at IS 'Time of the snapshot.';
COMMENT ON COLUMN advisor.broker_level_latest.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.broker_level_latest.snapshot_id IS 'sha256 of the snapshot''s content.';
COMMENT ON COLUMN advisor.broker_level_latest.broker IS 'Broker id.';
COMMENT ON COLUMN advisor.broker_level_latest.rack IS 'Rack; NULL where the broker has none.';
COMMENT ON COLUMN advisor.broker_level_latest.resource IS 'Resource.';
COMMENT ON COLUMN advisor.broker_level_latest.unit IS 'Unit of load.';
COMMENT ON COLUMN advisor.broker_level_latest.load IS 'Load.';
COMMENT ON COLUMN advisor.broker_level_latest.capacity IS 'Capacity; NULL unless every broker has a given one.';
COMMENT ON COLUMN advisor.broker_level_latest.level IS 'Load over capacity, or the load itself without capacities.';
COMMENT ON COLUMN advisor.broker_level_latest.level_to_mean_ratio IS 'Level over the mean level.';
COMMENT ON COLUMN advisor.broker_level_latest.remains_in_cluster IS 'The broker is alive and not draining.';
