CREATE OR REPLACE VIEW advisor.consumer_group AS
SELECT
    snapshot.time,
    snapshot.cluster,
    snapshot.snapshot_id,
    consumer_group.group_id,
    consumer_group.type,
    consumer_group.protocol_type,
    consumer_group.protocol,
    consumer_group.state,
    consumer_group.generation,
    consumer_group.coordinator,
    consumer_group.member_count,
    consumer_group.assignment_epoch,
    consumer_group.subtopologies,
    consumer_group.configs
FROM store.snapshot
JOIN store.consumer_group
    ON consumer_group.snapshot_key = snapshot.snapshot_key AND consumer_group.time = snapshot.time
WHERE snapshot.status = 'passed' AND NOT snapshot.is_pruned;
