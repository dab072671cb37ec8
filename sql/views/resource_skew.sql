CREATE OR REPLACE VIEW advisor.resource_skew AS
SELECT
    snapshot.time,
    snapshot.cluster,
    snapshot.snapshot_id,
    resource_skew.resource,
    resource_skew.unit,
    resource_skew.total,
    resource_skew.skew,
    resource_skew.worst_broker
FROM store.snapshot
JOIN store.resource_skew
    ON resource_skew.snapshot_key = snapshot.snapshot_key AND resource_skew.time = snapshot.time
WHERE snapshot.status = 'passed' AND NOT snapshot.is_pruned;
