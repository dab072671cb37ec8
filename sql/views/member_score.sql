CREATE OR REPLACE VIEW advisor.member_score AS
SELECT
    run.time,
    run.cluster,
    run.run_id,
    member_score.group_id,
    member_score.assignor,
    member_score.is_current,
    member_score.is_advised,
    member_score.member_id,
    member_score.instance_id,
    member_score.rack,
    member_score.partitions,
    member_score.in_bytes_per_s,
    member_score.in_messages_per_s,
    member_score.lag_messages,
    member_score.drain_seconds,
    member_score.is_falling_behind
FROM store.run
JOIN store.member_score
    ON member_score.run_key = run.run_key AND member_score.time = run.time
WHERE run.status = 'published';
