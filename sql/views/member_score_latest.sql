CREATE OR REPLACE VIEW advisor.member_score_latest AS
SELECT
    newest.started_at,
    newest.cluster,
    newest.run_id,
    member_score.group_id,
    member_score.assignor,
    member_score.is_current,
    member_score.is_recommended,
    member_score.member_id,
    member_score.instance_id,
    member_score.rack,
    member_score.partitions,
    member_score.in_bytes_per_s,
    member_score.in_messages_per_s,
    member_score.lag_messages,
    member_score.drain_seconds,
    member_score.is_falling_behind
FROM store.newest_run AS newest
JOIN store.member_score
    ON member_score.run_key = newest.run_key AND member_score.started_at = newest.started_at;

COMMENT ON VIEW advisor.member_score_latest IS 'Partitions and load of each member under the current and the recommended assignment, of the newest published advisory of each cluster.';
COMMENT ON COLUMN advisor.member_score_latest.started_at IS 'Start of the advisory.';
COMMENT ON COLUMN advisor.member_score_latest.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.member_score_latest.run_id IS 'Id of the advisory.';
COMMENT ON COLUMN advisor.member_score_latest.group_id IS 'Group.';
COMMENT ON COLUMN advisor.member_score_latest.assignor IS 'Assignor.';
COMMENT ON COLUMN advisor.member_score_latest.is_current IS 'True for the current assignment.';
COMMENT ON COLUMN advisor.member_score_latest.is_recommended IS 'True for the recommended assignment.';
COMMENT ON COLUMN advisor.member_score_latest.member_id IS 'Member.';
COMMENT ON COLUMN advisor.member_score_latest.instance_id IS 'group.instance.id.';
COMMENT ON COLUMN advisor.member_score_latest.rack IS 'client.rack.';
COMMENT ON COLUMN advisor.member_score_latest.partitions IS 'Assigned partitions.';
COMMENT ON COLUMN advisor.member_score_latest.in_bytes_per_s IS 'Bytes written to these partitions.';
COMMENT ON COLUMN advisor.member_score_latest.in_messages_per_s IS 'Messages written to these partitions.';
COMMENT ON COLUMN advisor.member_score_latest.lag_messages IS 'Lag in these partitions.';
COMMENT ON COLUMN advisor.member_score_latest.drain_seconds IS 'Time until that lag is gone; NULL: unknown or never.';
COMMENT ON COLUMN advisor.member_score_latest.is_falling_behind IS 'The lag is never gone at the measured read rate; NULL: unknown.';
