CREATE OR REPLACE VIEW advisor.consumer_group AS
SELECT
    snapshot.time,
    snapshot.cluster,
    snapshot.snapshot_id,
    each.group_id,
    each.type,
    each.protocol_type,
    each.protocol,
    each.state,
    each.generation,
    each.coordinator,
    each.member_count
FROM store.snapshot
JOIN store.consumer_group AS each
    ON each.snapshot_key = snapshot.snapshot_key AND each.time = snapshot.time
WHERE snapshot.status = 'passed';
