CREATE OR REPLACE VIEW advisor.group_score AS
SELECT
    run.time,
    run.cluster,
    run.run_id,
    group_score.group_id,
    group_score.assignor,
    group_score.version,
    group_score.scenario,
    group_score.is_current,
    group_score.is_advised,
    group_score.members,
    group_score.idle_members,
    group_score.partitions,
    group_score.skew_count,
    group_score.skew_rate,
    group_score.skew_lag,
    group_score.partitions_moved,
    group_score.moved_rate_ratio,
    group_score.same_rack_ratio,
    group_score.drain_seconds,
    group_score.basis,
    group_score.is_reproduced,
    group_score.error,
    consumer_group.type,
    group_score.members_falling_behind,
    group_score.leader_in_rack_ratio,
    group_score.subject,
    group_score.variants,
    group_score.mean_partitions_moved,
    group_score.partitions_revoked,
    group_score.partitions_unread,
    group_score.longest_pause_ms,
    group_score.unread_partition_ms,
    group_score.partitions_without_reader,
    group_score.cv_count,
    group_score.cv_rate,
    group_score.least_skew_count,
    group_score.least_skew_rate
FROM store.run
JOIN store.group_score
    ON group_score.run_key = run.run_key AND group_score.time = run.time
JOIN store.snapshot ON snapshot.snapshot_key = run.snapshot_key
LEFT JOIN store.consumer_group
    ON consumer_group.snapshot_key = run.snapshot_key AND consumer_group.time = snapshot.time
    AND consumer_group.group_id = group_score.group_id
WHERE run.status = 'published';
