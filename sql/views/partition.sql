CREATE OR REPLACE VIEW advisor.partition AS
SELECT
    snapshot.time,
    snapshot.cluster,
    snapshot.snapshot_id,
    each.topic,
    each.partition,
    each.replicas,
    each.leader,
    each.isr,
    each.log_bytes,
    each.start_offset,
    each.end_offset,
    each.adding,
    each.removing,
    each.offline,
    each.observers
FROM store.snapshot
JOIN store.partition AS each
    ON each.snapshot_key = snapshot.snapshot_key AND each.time = snapshot.time
WHERE snapshot.status = 'passed';
