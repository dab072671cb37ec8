CREATE OR REPLACE VIEW advisor.frontier_point AS
SELECT
    run.time,
    run.cluster,
    run.run_id,
    each.position,
    each.tolerance,
    each.bytes,
    each.replica_moves,
    each.leader_changes,
    each.lower_bound_bytes,
    each.skew,
    each.name,
    each.is_recommended,
    each.reason
FROM store.run
JOIN store.frontier_point AS each
    ON each.run_key = run.run_key
WHERE run.status = 'published';
