CREATE OR REPLACE VIEW advisor.broker_level AS
SELECT
    snapshot.time,
    snapshot.cluster,
    snapshot.snapshot_id,
    broker_level.broker,
    broker_level.rack,
    broker_level.resource,
    broker_level.unit,
    broker_level.load,
    broker_level.capacity,
    broker_level.level,
    broker_level.over_mean,
    broker_level.stays
FROM store.snapshot
JOIN store.broker_level
    ON broker_level.snapshot_key = snapshot.snapshot_key AND broker_level.time = snapshot.time
WHERE snapshot.status = 'passed' AND NOT snapshot.is_pruned;
