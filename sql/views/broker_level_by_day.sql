CREATE OR REPLACE VIEW advisor.broker_level_by_day AS
SELECT
    period_start,
    cluster,
    broker,
    resource,
    unit,
    snapshot_count,
    load,
    level,
    level_to_mean_ratio,
    highest_level_to_mean_ratio
FROM store.broker_day;

COMMENT ON VIEW advisor.broker_level_by_day IS 'Load and level of each broker and resource by day; kept when snapshots are pruned.';
COMMENT ON COLUMN advisor.broker_level_by_day.period_start IS 'Start of the day (UTC).';
COMMENT ON COLUMN advisor.broker_level_by_day.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.broker_level_by_day.broker IS 'Broker id.';
COMMENT ON COLUMN advisor.broker_level_by_day.resource IS 'Resource.';
COMMENT ON COLUMN advisor.broker_level_by_day.unit IS 'Unit of load.';
COMMENT ON COLUMN advisor.broker_level_by_day.snapshot_count IS 'Snapshots behind this row.';
COMMENT ON COLUMN advisor.broker_level_by_day.load IS 'Load, mean of the snapshots.';
COMMENT ON COLUMN advisor.broker_level_by_day.level IS 'Load over capacity, mean of the snapshots.';
COMMENT ON COLUMN advisor.broker_level_by_day.level_to_mean_ratio IS 'Level over the mean level, mean of the snapshots.';
COMMENT ON COLUMN advisor.broker_level_by_day.highest_level_to_mean_ratio IS 'Highest of the snapshots.';
