CREATE OR REPLACE VIEW advisor.member_latest AS
SELECT
    newest.time,
    newest.cluster,
    newest.snapshot_id,
    member.group_id,
    member.member_id,
    member.instance_id,
    member.client_id,
    member.host,
    member.rack,
    member.subscription,
    member.subscribed_regex,
    member.assigned,
    member.assigned_count,
    member.owned,
    member.target,
    member.generation,
    member.decode_error,
    consumer_group.type,
    member.is_classic,
    member.process_id,
    member.tasks,
    member.target_tasks
FROM store.newest_snapshot AS newest
JOIN store.member
    ON member.snapshot_key = newest.snapshot_key AND member.time = newest.time
JOIN store.consumer_group
    ON consumer_group.snapshot_key = member.snapshot_key AND consumer_group.time = member.time
    AND consumer_group.group_id = member.group_id;
