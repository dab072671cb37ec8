CREATE OR REPLACE VIEW advisor.member_score_latest AS
SELECT
    newest.time,
    newest.cluster,
    newest.run_id,
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
FROM store.newest_run AS newest
JOIN store.member_score AS each
    ON each.run_key = newest.run_key AND each.time = newest.time;

COMMENT ON VIEW advisor.member_score_latest IS 'What each member reads today and under the advised assignment, of the newest published advisory of each cluster.';
COMMENT ON COLUMN advisor.member_score_latest.time IS 'When the advisory was started.';
COMMENT ON COLUMN advisor.member_score_latest.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.member_score_latest.run_id IS 'The advisory that says so.';
COMMENT ON COLUMN advisor.member_score_latest.group_id IS 'Group.';
COMMENT ON COLUMN advisor.member_score_latest.assignor IS 'Strategy.';
COMMENT ON COLUMN advisor.member_score_latest.is_current IS 'The assignment of today.';
COMMENT ON COLUMN advisor.member_score_latest.is_advised IS 'The advised assignment.';
COMMENT ON COLUMN advisor.member_score_latest.member_id IS 'Member.';
COMMENT ON COLUMN advisor.member_score_latest.instance_id IS 'group.instance.id.';
COMMENT ON COLUMN advisor.member_score_latest.rack IS 'client.rack.';
COMMENT ON COLUMN advisor.member_score_latest.partitions IS 'Partitions it reads.';
COMMENT ON COLUMN advisor.member_score_latest.in_bytes_per_s IS 'Bytes written to them.';
COMMENT ON COLUMN advisor.member_score_latest.in_messages_per_s IS 'Messages written to them.';
COMMENT ON COLUMN advisor.member_score_latest.lag_messages IS 'Messages it is behind.';
