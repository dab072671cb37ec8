CREATE OR REPLACE VIEW advisor.resource_skew_latest AS
SELECT
    newest.captured_at,
    newest.cluster,
    newest.snapshot_id,
    resource_skew.resource,
    resource_skew.unit,
    resource_skew.total,
    resource_skew.skew,
    resource_skew.worst_broker
FROM store.newest_snapshot AS newest
JOIN store.resource_skew
    ON resource_skew.snapshot_key = newest.snapshot_key AND resource_skew.captured_at = newest.captured_at;

COMMENT ON VIEW advisor.resource_skew_latest IS 'Skew of each resource over the whole cluster, in the newest snapshot of each cluster.';
COMMENT ON COLUMN advisor.resource_skew_latest.captured_at IS 'Time of the snapshot.';
COMMENT ON COLUMN advisor.resource_skew_latest.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.resource_skew_latest.snapshot_id IS 'sha256 of the snapshot''s content.';
COMMENT ON COLUMN advisor.resource_skew_latest.resource IS 'Resource.';
COMMENT ON COLUMN advisor.resource_skew_latest.unit IS 'Unit of total.';
COMMENT ON COLUMN advisor.resource_skew_latest.total IS 'Load of the whole cluster.';
COMMENT ON COLUMN advisor.resource_skew_latest.skew IS 'Highest level over the mean level.';
COMMENT ON COLUMN advisor.resource_skew_latest.worst_broker IS 'Broker with that level; NULL where all levels are equal.';
