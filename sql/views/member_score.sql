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

COMMENT ON VIEW advisor.member_score IS 'What each member reads today and under the advised assignment, in every published advisory.';
COMMENT ON COLUMN advisor.member_score.time IS 'When the advisory was started.';
COMMENT ON COLUMN advisor.member_score.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.member_score.run_id IS 'The advisory that says so.';
COMMENT ON COLUMN advisor.member_score.group_id IS 'Group.';
COMMENT ON COLUMN advisor.member_score.assignor IS 'Strategy.';
COMMENT ON COLUMN advisor.member_score.is_current IS 'The assignment of today.';
COMMENT ON COLUMN advisor.member_score.is_advised IS 'The advised assignment.';
COMMENT ON COLUMN advisor.member_score.member_id IS 'Member.';
COMMENT ON COLUMN advisor.member_score.instance_id IS 'group.instance.id.';
COMMENT ON COLUMN advisor.member_score.rack IS 'client.rack.';
COMMENT ON COLUMN advisor.member_score.partitions IS 'Partitions it reads.';
COMMENT ON COLUMN advisor.member_score.in_bytes_per_s IS 'Bytes written to them.';
COMMENT ON COLUMN advisor.member_score.in_messages_per_s IS 'Messages written to them.';
COMMENT ON COLUMN advisor.member_score.lag_messages IS 'Messages it is behind.';
