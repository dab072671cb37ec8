CREATE OR REPLACE VIEW advisor.broker_level AS
SELECT
    snapshot.captured_at,
    snapshot.cluster,
    snapshot.snapshot_id,
    broker_level.broker,
    broker_level.rack,
    broker_level.resource,
    broker_level.unit,
    broker_level.load,
    broker_level.capacity,
    broker_level.level,
    broker_level.level_to_mean_ratio,
    broker_level.remains_in_cluster
FROM store.snapshot
JOIN store.broker_level
    ON broker_level.snapshot_key = snapshot.snapshot_key AND broker_level.captured_at = snapshot.captured_at
WHERE snapshot.status = 'passed' AND NOT snapshot.is_pruned;

COMMENT ON VIEW advisor.broker_level IS 'Load and level of each broker and resource in every snapshot, scored as an advisory does.';
COMMENT ON COLUMN advisor.broker_level.captured_at IS 'Time of the snapshot.';
COMMENT ON COLUMN advisor.broker_level.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.broker_level.snapshot_id IS 'sha256 of the snapshot''s content.';
COMMENT ON COLUMN advisor.broker_level.broker IS 'Broker id.';
COMMENT ON COLUMN advisor.broker_level.rack IS 'Rack; NULL where the broker has none.';
COMMENT ON COLUMN advisor.broker_level.resource IS 'Resource.';
COMMENT ON COLUMN advisor.broker_level.unit IS 'Unit of load.';
COMMENT ON COLUMN advisor.broker_level.load IS 'Load.';
COMMENT ON COLUMN advisor.broker_level.capacity IS 'Capacity; NULL unless every broker has a given one.';
COMMENT ON COLUMN advisor.broker_level.level IS 'Load over capacity, or the load itself without capacities.';
COMMENT ON COLUMN advisor.broker_level.level_to_mean_ratio IS 'Level over the mean level.';
COMMENT ON COLUMN advisor.broker_level.remains_in_cluster IS 'The broker is alive and not draining.';
