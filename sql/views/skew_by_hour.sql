CREATE OR REPLACE VIEW advisor.skew_by_hour AS
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
FROM store.skew_hour;

COMMENT ON VIEW advisor.skew_by_hour IS 'Skew of each resource by hour; kept when snapshots are pruned.';
COMMENT ON COLUMN advisor.skew_by_hour.period_start IS 'Start of the hour (UTC).';
COMMENT ON COLUMN advisor.skew_by_hour.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.skew_by_hour.resource IS 'Resource.';
COMMENT ON COLUMN advisor.skew_by_hour.unit IS 'Unit of total.';
COMMENT ON COLUMN advisor.skew_by_hour.snapshot_count IS 'Snapshots behind this row.';
COMMENT ON COLUMN advisor.skew_by_hour.total IS 'Load of the whole cluster, mean of the snapshots.';
COMMENT ON COLUMN advisor.skew_by_hour.skew IS 'Highest level over the mean level, mean of the snapshots.';
COMMENT ON COLUMN advisor.skew_by_hour.highest_skew IS 'Highest of the snapshots.';
COMMENT ON COLUMN advisor.skew_by_hour.worst_broker IS 'Broker with the highest level; NULL where all levels are equal.';
