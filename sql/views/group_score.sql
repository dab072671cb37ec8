CREATE OR REPLACE VIEW advisor.group_score AS
SELECT
    run.time,
    run.cluster,
    run.run_id,
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
FROM store.run
JOIN store.group_score AS each
    ON each.run_key = run.run_key AND each.time = run.time
WHERE run.status = 'published';
