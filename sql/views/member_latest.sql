CREATE OR REPLACE VIEW advisor.member_latest AS
SELECT
    newest.captured_at,
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
    member.target_tasks,
    member.task_offsets,
    member.task_end_offsets,
    member.worker
FROM store.newest_snapshot AS newest
JOIN store.member
    ON member.snapshot_key = newest.snapshot_key AND member.captured_at = newest.captured_at
JOIN store.consumer_group
    ON consumer_group.snapshot_key = member.snapshot_key AND consumer_group.captured_at = member.captured_at
    AND consumer_group.group_id = member.group_id;

COMMENT ON VIEW advisor.member_latest IS 'Members of the newest snapshot of each cluster.';
COMMENT ON COLUMN advisor.member_latest.captured_at IS 'Time of the snapshot.';
COMMENT ON COLUMN advisor.member_latest.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.member_latest.snapshot_id IS 'sha256 of the snapshot''s content.';
COMMENT ON COLUMN advisor.member_latest.group_id IS 'Group.';
COMMENT ON COLUMN advisor.member_latest.member_id IS 'Member.';
COMMENT ON COLUMN advisor.member_latest.instance_id IS 'group.instance.id of a static member.';
COMMENT ON COLUMN advisor.member_latest.client_id IS 'client.id.';
COMMENT ON COLUMN advisor.member_latest.host IS 'Host it connects from.';
COMMENT ON COLUMN advisor.member_latest.rack IS 'client.rack.';
COMMENT ON COLUMN advisor.member_latest.subscription IS 'Topics it subscribes to.';
COMMENT ON COLUMN advisor.member_latest.subscribed_regex IS 'Pattern it subscribes to (KIP-848).';
COMMENT ON COLUMN advisor.member_latest.assigned IS 'Assigned partitions: [[topic, [partitions]], …]; NULL where only their number is known.';
COMMENT ON COLUMN advisor.member_latest.assigned_count IS 'Number of assigned partitions.';
COMMENT ON COLUMN advisor.member_latest.owned IS 'Partitions that the member reports as owned.';
COMMENT ON COLUMN advisor.member_latest.target IS 'Target assignment (KIP-848).';
COMMENT ON COLUMN advisor.member_latest.generation IS 'Generation of its data.';
COMMENT ON COLUMN advisor.member_latest.decode_error IS 'Why its metadata could not be read.';
COMMENT ON COLUMN advisor.member_latest.type IS 'Type of its group: classic, consumer, share, streams or unknown.';
COMMENT ON COLUMN advisor.member_latest.is_classic IS 'The member uses the classic protocol in a group of a newer type.';
COMMENT ON COLUMN advisor.member_latest.process_id IS 'Instance of a streams application that it belongs to.';
COMMENT ON COLUMN advisor.member_latest.tasks IS 'Tasks of a streams member: {active: [[subtopology, [partitions]], …], …}.';
COMMENT ON COLUMN advisor.member_latest.target_tasks IS 'Tasks of the target assignment.';
COMMENT ON COLUMN advisor.member_latest.task_offsets IS 'Sums of changelog offsets that the member has of tasks: [[subtopology, [[partition, sum]]]]; NULL before Kafka 4.4.';
COMMENT ON COLUMN advisor.member_latest.task_end_offsets IS 'The same sums of the changelogs'' end offsets.';
COMMENT ON COLUMN advisor.member_latest.worker IS 'Worker of Kafka Connect: {url, leader, joined_with, assigned, revoked, delay_ms, …}.';
