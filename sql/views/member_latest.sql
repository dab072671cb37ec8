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
    member.decode_error
FROM store.newest_snapshot AS newest
JOIN store.member
    ON member.snapshot_key = newest.snapshot_key AND member.time = newest.time;
