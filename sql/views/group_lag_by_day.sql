CREATE OR REPLACE VIEW advisor.group_lag_by_day AS
SELECT
    period_start,
    cluster,
    group_id,
    snapshot_count,
    lag_messages,
    highest_lag_messages
FROM store.lag_day;

COMMENT ON VIEW advisor.group_lag_by_day IS 'Lag of each group by day; kept when snapshots are pruned.';
COMMENT ON COLUMN advisor.group_lag_by_day.period_start IS 'Start of the day (UTC).';
COMMENT ON COLUMN advisor.group_lag_by_day.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.group_lag_by_day.group_id IS 'Group.';
COMMENT ON COLUMN advisor.group_lag_by_day.snapshot_count IS 'Snapshots behind this row.';
COMMENT ON COLUMN advisor.group_lag_by_day.lag_messages IS 'Lag in all its topics, mean of the snapshots.';
COMMENT ON COLUMN advisor.group_lag_by_day.highest_lag_messages IS 'Highest of the snapshots.';
