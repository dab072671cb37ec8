CREATE OR REPLACE VIEW advisor.streams_member_latest AS
SELECT
    newest.captured_at,
    newest.cluster,
    newest.snapshot_id,
    member.group_id,
    member.process_id,
    member.member_id,
    member.rack,
    counted.active_tasks,
    counted.standby_tasks,
    counted.warmup_tasks
FROM store.newest_snapshot AS newest
JOIN store.member
    ON member.snapshot_key = newest.snapshot_key AND member.captured_at = newest.captured_at
CROSS JOIN LATERAL (
    SELECT
        coalesce(sum(jsonb_array_length(run -> 1)) FILTER (WHERE kind = 'active'), 0)::integer AS active_tasks,
        coalesce(sum(jsonb_array_length(run -> 1)) FILTER (WHERE kind = 'standby'), 0)::integer AS standby_tasks,
        coalesce(sum(jsonb_array_length(run -> 1)) FILTER (WHERE kind = 'warmup'), 0)::integer AS warmup_tasks
    FROM jsonb_each(member.tasks) AS listed (kind, runs), jsonb_array_elements(runs) AS each_run (run)
) AS counted
WHERE member.tasks IS NOT NULL;

COMMENT ON VIEW advisor.streams_member_latest IS 'Tasks of each member of a Streams group, in the newest snapshot of each cluster; sum over process_id for an instance.';
COMMENT ON COLUMN advisor.streams_member_latest.captured_at IS 'Time of the snapshot.';
COMMENT ON COLUMN advisor.streams_member_latest.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.streams_member_latest.snapshot_id IS 'sha256 of the snapshot''s content.';
COMMENT ON COLUMN advisor.streams_member_latest.group_id IS 'Group of Kafka Streams.';
COMMENT ON COLUMN advisor.streams_member_latest.process_id IS 'Instance; NULL where it is unknown.';
COMMENT ON COLUMN advisor.streams_member_latest.member_id IS 'Member: a thread of the instance.';
COMMENT ON COLUMN advisor.streams_member_latest.rack IS 'Rack of the member; NULL where it is unknown.';
COMMENT ON COLUMN advisor.streams_member_latest.active_tasks IS 'Active tasks.';
COMMENT ON COLUMN advisor.streams_member_latest.standby_tasks IS 'Standby tasks.';
COMMENT ON COLUMN advisor.streams_member_latest.warmup_tasks IS 'Warm-up tasks.';
