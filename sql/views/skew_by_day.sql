CREATE OR REPLACE VIEW advisor.skew_by_day AS
SELECT
    period_start,
    cluster,
    resource,
    unit,
    snapshot_count,
    total,
    skew,
    highest_skew,
    worst_broker
FROM store.skew_day;

COMMENT ON VIEW advisor.skew_by_day IS 'Skew of each resource by day; kept when snapshots are pruned.';
COMMENT ON COLUMN advisor.skew_by_day.period_start IS 'Start of the day (UTC).';
COMMENT ON COLUMN advisor.skew_by_day.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.skew_by_day.resource IS 'Resource.';
COMMENT ON COLUMN advisor.skew_by_day.unit IS 'Unit of total.';
COMMENT ON COLUMN advisor.skew_by_day.snapshot_count IS 'Snapshots behind this row.';
COMMENT ON COLUMN advisor.skew_by_day.total IS 'Load of the whole cluster, mean of the snapshots.';
COMMENT ON COLUMN advisor.skew_by_day.skew IS 'Highest level over the mean level, mean of the snapshots.';
COMMENT ON COLUMN advisor.skew_by_day.highest_skew IS 'Highest of the snapshots.';
COMMENT ON COLUMN advisor.skew_by_day.worst_broker IS 'Broker with the highest level; NULL where all levels are equal.';
