CREATE OR REPLACE VIEW advisor.resource_skew AS
SELECT
    snapshot.captured_at,
    snapshot.cluster,
    snapshot.snapshot_id,
    resource_skew.resource,
    resource_skew.unit,
    resource_skew.total,
    resource_skew.skew,
    resource_skew.worst_broker
FROM store.snapshot
JOIN store.resource_skew
    ON resource_skew.snapshot_key = snapshot.snapshot_key AND resource_skew.captured_at = snapshot.captured_at
WHERE snapshot.status = 'passed' AND NOT snapshot.is_pruned;

COMMENT ON VIEW advisor.resource_skew IS 'Skew of each resource over the whole cluster, in every snapshot.';
COMMENT ON COLUMN advisor.resource_skew.captured_at IS 'Time of the snapshot.';
COMMENT ON COLUMN advisor.resource_skew.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.resource_skew.snapshot_id IS 'sha256 of the snapshot''s content.';
COMMENT ON COLUMN advisor.resource_skew.resource IS 'Resource.';
COMMENT ON COLUMN advisor.resource_skew.unit IS 'Unit of total.';
COMMENT ON COLUMN advisor.resource_skew.total IS 'Load of the whole cluster.';
COMMENT ON COLUMN advisor.resource_skew.skew IS 'Highest level over the mean level.';
COMMENT ON COLUMN advisor.resource_skew.worst_broker IS 'Broker with that level; NULL where all levels are equal.';
