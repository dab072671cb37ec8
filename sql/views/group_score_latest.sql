CREATE OR REPLACE VIEW advisor.group_score_latest AS
SELECT
    newest.started_at,
    newest.cluster,
    newest.run_id,
    group_score.group_id,
    group_score.assignor,
    group_score.version,
    group_score.scenario,
    group_score.is_current,
    group_score.is_recommended,
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
FROM store.newest_run AS newest
JOIN store.group_score
    ON group_score.run_key = newest.run_key AND group_score.started_at = newest.started_at
JOIN store.snapshot ON snapshot.snapshot_key = newest.snapshot_key
LEFT JOIN store.consumer_group
    ON consumer_group.snapshot_key = newest.snapshot_key AND consumer_group.captured_at = snapshot.captured_at
    AND consumer_group.group_id = group_score.group_id;

COMMENT ON VIEW advisor.group_score_latest IS 'Each group under its own and under other assignors, of the newest published advisory of each cluster.';
COMMENT ON COLUMN advisor.group_score_latest.started_at IS 'Start of the advisory.';
COMMENT ON COLUMN advisor.group_score_latest.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.group_score_latest.run_id IS 'Id of the advisory.';
COMMENT ON COLUMN advisor.group_score_latest.group_id IS 'Group.';
COMMENT ON COLUMN advisor.group_score_latest.assignor IS 'Assignor.';
COMMENT ON COLUMN advisor.group_score_latest.version IS 'Class and release that were replayed (a fact: code and args).';
COMMENT ON COLUMN advisor.group_score_latest.scenario IS 'today, or the change of the what-if scenario.';
COMMENT ON COLUMN advisor.group_score_latest.is_current IS 'True for the current assignor.';
COMMENT ON COLUMN advisor.group_score_latest.is_recommended IS 'True for the recommended assignor.';
COMMENT ON COLUMN advisor.group_score_latest.members IS 'Members.';
COMMENT ON COLUMN advisor.group_score_latest.idle_members IS 'Members without a partition.';
COMMENT ON COLUMN advisor.group_score_latest.partitions IS 'Partitions.';
COMMENT ON COLUMN advisor.group_score_latest.skew_count IS 'Skew of partition counts over members.';
COMMENT ON COLUMN advisor.group_score_latest.skew_rate IS 'Skew of rates over members; NULL where unknown.';
COMMENT ON COLUMN advisor.group_score_latest.skew_lag IS 'Skew of lag over members; NULL where unknown.';
COMMENT ON COLUMN advisor.group_score_latest.partitions_moved IS 'Partitions that change their member, by the assignor or in the scenario.';
COMMENT ON COLUMN advisor.group_score_latest.moved_rate_ratio IS 'Share of the rate that changes its member.';
COMMENT ON COLUMN advisor.group_score_latest.same_rack_ratio IS 'Share of the bytes read by members with a rack that have a replica in that rack.';
COMMENT ON COLUMN advisor.group_score_latest.drain_seconds IS 'Time until the current lag is gone; NULL: unknown or never.';
COMMENT ON COLUMN advisor.group_score_latest.basis IS 'Source of its subscriptions: given; all_alike or as_read: assumed.';
COMMENT ON COLUMN advisor.group_score_latest.is_reproduced IS 'The replay of the current assignor gives exactly the current assignment; NULL where it is not replayed.';
COMMENT ON COLUMN advisor.group_score_latest.error IS 'Why there is no assignment (a fact: code and args); scores are then NULL.';
COMMENT ON COLUMN advisor.group_score_latest.type IS 'Type of the group; share and streams groups have no assignor to choose.';
COMMENT ON COLUMN advisor.group_score_latest.members_falling_behind IS 'Members whose lag is never gone; NULL: unknown. 0 without drain_seconds: the remaining lag is in partitions without a member.';
COMMENT ON COLUMN advisor.group_score_latest.leader_in_rack_ratio IS 'As same_rack_ratio, for leaders alone: without a rack-aware replica selector.';
COMMENT ON COLUMN advisor.group_score_latest.subject IS 'Event of the scenario (a fact), of the variant that moves most.';
COMMENT ON COLUMN advisor.group_score_latest.variants IS 'Number of variants of the scenario, such as the members that leave.';
COMMENT ON COLUMN advisor.group_score_latest.mean_partitions_moved IS 'Mean over all variants of the partitions that change their member.';
COMMENT ON COLUMN advisor.group_score_latest.partitions_revoked IS 'Partitions that are revoked from members that remain.';
COMMENT ON COLUMN advisor.group_score_latest.partitions_unread IS 'Partitions that pause.';
COMMENT ON COLUMN advisor.group_score_latest.longest_pause_ms IS 'Longest pause in ms; NULL where a pause has no end.';
COMMENT ON COLUMN advisor.group_score_latest.unread_partition_ms IS 'Sum of all pauses in ms.';
COMMENT ON COLUMN advisor.group_score_latest.partitions_without_reader IS 'Partitions without a member at the end.';
COMMENT ON COLUMN advisor.group_score_latest.cv_count IS 'Standard deviation over mean of partition counts.';
COMMENT ON COLUMN advisor.group_score_latest.cv_rate IS 'Standard deviation over mean of rates; NULL where unknown.';
COMMENT ON COLUMN advisor.group_score_latest.least_skew_count IS 'No assignment to these members has a smaller skew_count.';
COMMENT ON COLUMN advisor.group_score_latest.least_skew_rate IS 'No assignment to these members has a smaller skew_rate.';
