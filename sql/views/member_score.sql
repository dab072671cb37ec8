CREATE OR REPLACE VIEW advisor.member_score AS
SELECT
    run.time,
    run.cluster,
    run.run_id,
    each.group_id,
    each.assignor,
    each.is_current,
    each.is_advised,
    each.member_id,
    each.instance_id,
    each.rack,
    each.partitions,
    each.in_bytes_per_s,
    each.in_messages_per_s,
    each.lag_messages
FROM store.run
JOIN store.member_score AS each
    ON each.run_key = run.run_key AND each.time = run.time
WHERE run.status = 'published';
