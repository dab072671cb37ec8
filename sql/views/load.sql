CREATE OR REPLACE VIEW advisor.load AS
SELECT
    snapshot.time,
    snapshot.cluster,
    snapshot.snapshot_id,
    each.topic,
    each.partition,
    each.log_bytes,
    each.in_bytes_per_s,
    each.out_bytes_per_s,
    each.cpu_percent,
    each.in_messages_per_s
FROM store.snapshot
JOIN store.load AS each
    ON each.snapshot_key = snapshot.snapshot_key AND each.time = snapshot.time
WHERE snapshot.status = 'passed';
