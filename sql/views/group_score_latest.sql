CREATE OR REPLACE VIEW advisor.group_score_latest AS
SELECT
    newest.time,
    newest.cluster,
    newest.run_id,
    each.group_id,
    each.assignor,
    each.version,
    each.scenario,
    each.is_current,
    each.is_advised,
    each.members,
    each.idle_members,
    each.partitions,
    each.skew_count,
    each.skew_rate,
    each.skew_lag,
    each.partitions_moved,
    each.moved_rate_ratio,
    each.same_rack_ratio,
    each.drain_seconds,
    each.basis,
    each.is_reproduced,
    each.error
FROM store.newest_run AS newest
JOIN store.group_score AS each
    ON each.run_key = newest.run_key AND each.time = newest.time;

COMMENT ON VIEW advisor.group_score_latest IS 'Each group under its own and under other assignors, of the newest published advisory of each cluster.';
COMMENT ON COLUMN advisor.group_score_latest.time IS 'When the advisory was started.';
COMMENT ON COLUMN advisor.group_score_latest.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.group_score_latest.run_id IS 'The advisory that says so.';
COMMENT ON COLUMN advisor.group_score_latest.group_id IS 'Group.';
COMMENT ON COLUMN advisor.group_score_latest.assignor IS 'Strategy.';
COMMENT ON COLUMN advisor.group_score_latest.version IS 'Kafka version of the strategy.';
COMMENT ON COLUMN advisor.group_score_latest.scenario IS 'today, or what was changed on purpose.';
COMMENT ON COLUMN advisor.group_score_latest.is_current IS 'What the group does today.';
COMMENT ON COLUMN advisor.group_score_latest.is_advised IS 'What it should do.';
COMMENT ON COLUMN advisor.group_score_latest.members IS 'Members.';
COMMENT ON COLUMN advisor.group_score_latest.idle_members IS 'Members that read nothing.';
COMMENT ON COLUMN advisor.group_score_latest.partitions IS 'Partitions.';
COMMENT ON COLUMN advisor.group_score_latest.skew_count IS 'Skew of partition counts over members.';
COMMENT ON COLUMN advisor.group_score_latest.skew_rate IS 'Skew of rates over members; NULL where unknown.';
COMMENT ON COLUMN advisor.group_score_latest.skew_lag IS 'Skew of lag over members; NULL where unknown.';
COMMENT ON COLUMN advisor.group_score_latest.partitions_moved IS 'Partitions that change their member against today.';
COMMENT ON COLUMN advisor.group_score_latest.moved_rate_ratio IS 'Share of the rate that changes its member.';
COMMENT ON COLUMN advisor.group_score_latest.same_rack_ratio IS 'Share of partitions read from a replica in the member''s rack.';
COMMENT ON COLUMN advisor.group_score_latest.drain_seconds IS 'Time to drain today''s lag at today''s rates.';
COMMENT ON COLUMN advisor.group_score_latest.basis IS 'Where its subscriptions come from: given, or assumed and how.';
COMMENT ON COLUMN advisor.group_score_latest.is_reproduced IS 'The group''s own strategy gives exactly today''s assignment on that basis; NULL where it is not replayed.';
COMMENT ON COLUMN advisor.group_score_latest.error IS 'The strategy''s own refusal; scores are then NULL.';
