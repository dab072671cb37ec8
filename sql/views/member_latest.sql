CREATE OR REPLACE VIEW advisor.member_latest AS
SELECT
    newest.time,
    newest.cluster,
    newest.snapshot_id,
    each.group_id,
    each.member_id,
    each.instance_id,
    each.client_id,
    each.host,
    each.rack,
    each.subscription,
    each.subscribed_regex,
    each.assigned,
    each.assigned_count,
    each.owned,
    each.target,
    each.generation,
    each.decode_error
FROM store.newest_snapshot AS newest
JOIN store.member AS each
    ON each.snapshot_key = newest.snapshot_key AND each.time = newest.time;
