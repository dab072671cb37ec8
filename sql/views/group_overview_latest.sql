-- One wide row a group: members, lag and its outlook, skew, advice, and the worst that was found.
CREATE OR REPLACE VIEW advisor.group_overview_latest AS
SELECT
    newest.captured_at,
    newest.cluster,
    newest.snapshot_id,
    consumer_group.group_id,
    consumer_group.type,
    consumer_group.protocol,
    consumer_group.state,
    consumer_group.member_count,
    score.idle_members,
    lag.lag_messages,
    score.drain_seconds,
    score.outlook,
    score.skew_count,
    score.skew_rate,
    score.assignor AS current_assignor,
    recommended.assignor AS recommended_assignor,
    coalesce(found.findings, 0) AS finding_count,
    found.worst_severity,
    found.worst_code AS worst_finding_code,
    consumer_group.protocol_type,
    score.lag_seconds,
    found.worst_team AS team,
    found.worst_channel AS channel,
    found.worst_tier AS tier
FROM store.newest_snapshot AS newest
JOIN store.consumer_group
    ON consumer_group.snapshot_key = newest.snapshot_key AND consumer_group.captured_at = newest.captured_at
LEFT JOIN store.group_lag AS lag
    ON lag.snapshot_key = newest.snapshot_key AND lag.captured_at = newest.captured_at AND lag.group_id = consumer_group.group_id
LEFT JOIN store.newest_run AS run ON run.cluster = newest.cluster
LEFT JOIN store.current_group_score AS score
    ON score.run_key = run.run_key AND score.started_at = run.started_at AND score.group_id = consumer_group.group_id
LEFT JOIN store.group_score AS recommended
    ON recommended.run_key = run.run_key AND recommended.started_at = run.started_at AND recommended.group_id = consumer_group.group_id
    AND recommended.is_recommended AND NOT recommended.is_current AND recommended.scenario = 'today'
LEFT JOIN store.finding_subject AS found
    ON found.cluster = newest.cluster AND found.subject_type = 'group' AND found.subject = consumer_group.group_id;
COMMENT ON VIEW advisor.group_overview_latest IS 'Groups of the newest snapshot with members, lag, skew, advice of the newest advisory and worst finding.';
COMMENT ON COLUMN advisor.group_overview_latest.captured_at IS 'Time of the snapshot.';
COMMENT ON COLUMN advisor.group_overview_latest.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.group_overview_latest.snapshot_id IS 'Id of the snapshot.';
COMMENT ON COLUMN advisor.group_overview_latest.group_id IS 'Group.';
COMMENT ON COLUMN advisor.group_overview_latest.type IS 'classic, consumer (KIP-848), share or streams.';
COMMENT ON COLUMN advisor.group_overview_latest.protocol IS 'Assignor that the group chose; NULL: none or unknown.';
COMMENT ON COLUMN advisor.group_overview_latest.state IS 'State that its coordinator reports; NULL: unknown.';
COMMENT ON COLUMN advisor.group_overview_latest.member_count IS 'Members.';
COMMENT ON COLUMN advisor.group_overview_latest.idle_members IS 'Members without a partition; NULL: not judged.';
COMMENT ON COLUMN advisor.group_overview_latest.lag_messages IS 'Messages behind in all its topics; NULL: unknown.';
COMMENT ON COLUMN advisor.group_overview_latest.drain_seconds IS 'Seconds until the lag is gone; NULL: never or unknown, as outlook says.';
COMMENT ON COLUMN advisor.group_overview_latest.outlook IS 'never (members fall behind), drains, no_lag, no_members or unknown; NULL: not judged.';
COMMENT ON COLUMN advisor.group_overview_latest.skew_count IS 'Partitions of the busiest member to the mean.';
COMMENT ON COLUMN advisor.group_overview_latest.skew_rate IS 'Bytes/s of the busiest member to the mean; NULL: unknown.';
COMMENT ON COLUMN advisor.group_overview_latest.current_assignor IS 'Strategy of today; NULL: not judged.';
COMMENT ON COLUMN advisor.group_overview_latest.recommended_assignor IS 'Strategy that the newest advisory recommends in its place; NULL: none.';
COMMENT ON COLUMN advisor.group_overview_latest.finding_count IS 'Findings of the newest advisory about it, or that explain something of it; muted ones are left out.';
COMMENT ON COLUMN advisor.group_overview_latest.worst_severity IS 'Severity of the worst of them; NULL: none.';
COMMENT ON COLUMN advisor.group_overview_latest.worst_finding_code IS 'Code of the worst of them.';
COMMENT ON COLUMN advisor.group_overview_latest.protocol_type IS 'consumer, connect, …; NULL: unknown.';
COMMENT ON COLUMN advisor.group_overview_latest.lag_seconds IS 'Lag in seconds of writing, at the rates of the newest advisory, of the partitions that are read; NULL: unknown.';
COMMENT ON COLUMN advisor.group_overview_latest.team IS 'Team that the worst finding is for; NULL: none, or no owner is configured.';
COMMENT ON COLUMN advisor.group_overview_latest.channel IS 'Its channel.';
COMMENT ON COLUMN advisor.group_overview_latest.tier IS 'Its tier.';
