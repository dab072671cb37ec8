CREATE OR REPLACE VIEW advisor.group_lag_by_hour AS
SELECT
    period_start,
    cluster,
    group_id,
    snapshot_count,
    lag_messages,
    highest_lag_messages
FROM store.lag_hour;

COMMENT ON VIEW advisor.group_lag_by_hour IS 'Lag of each group by hour; kept when snapshots are pruned.';
COMMENT ON COLUMN advisor.group_lag_by_hour.period_start IS 'Start of the hour (UTC).';
COMMENT ON COLUMN advisor.group_lag_by_hour.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.group_lag_by_hour.group_id IS 'Group.';
COMMENT ON COLUMN advisor.group_lag_by_hour.snapshot_count IS 'Snapshots behind this row.';
COMMENT ON COLUMN advisor.group_lag_by_hour.lag_messages IS 'Lag in all its topics, mean of the snapshots.';
COMMENT ON COLUMN advisor.group_lag_by_hour.highest_lag_messages IS 'Highest of the snapshots.';
