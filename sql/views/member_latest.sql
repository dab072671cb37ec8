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

COMMENT ON VIEW advisor.member_latest IS 'Members of the newest reading of each cluster.';
COMMENT ON COLUMN advisor.member_latest.time IS 'When the cluster was read.';
COMMENT ON COLUMN advisor.member_latest.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.member_latest.snapshot_id IS 'sha256 of the reading''s content.';
COMMENT ON COLUMN advisor.member_latest.group_id IS 'Group.';
COMMENT ON COLUMN advisor.member_latest.member_id IS 'Member.';
COMMENT ON COLUMN advisor.member_latest.instance_id IS 'group.instance.id of a static member.';
COMMENT ON COLUMN advisor.member_latest.client_id IS 'client.id.';
COMMENT ON COLUMN advisor.member_latest.host IS 'Host it connects from.';
COMMENT ON COLUMN advisor.member_latest.rack IS 'client.rack.';
COMMENT ON COLUMN advisor.member_latest.subscription IS 'Topics it subscribes to.';
COMMENT ON COLUMN advisor.member_latest.subscribed_regex IS 'Pattern it subscribes to (KIP-848).';
COMMENT ON COLUMN advisor.member_latest.assigned IS 'What the group gave it: [[topic, [partitions]], …].';
COMMENT ON COLUMN advisor.member_latest.assigned_count IS 'Partitions that the group gave it.';
COMMENT ON COLUMN advisor.member_latest.owned IS 'What it says it owns.';
COMMENT ON COLUMN advisor.member_latest.target IS 'Where the group is going (KIP-848).';
COMMENT ON COLUMN advisor.member_latest.generation IS 'Generation of its data.';
COMMENT ON COLUMN advisor.member_latest.decode_error IS 'Why its metadata could not be read.';
