CREATE OR REPLACE VIEW advisor.frontier_point AS
SELECT
    run.time,
    run.cluster,
    run.run_id,
    frontier_point.position,
    frontier_point.tolerance,
    frontier_point.bytes,
    frontier_point.replica_moves,
    frontier_point.leader_changes,
    frontier_point.lower_bound_bytes,
    frontier_point.skew,
    frontier_point.name,
    frontier_point.is_recommended,
    frontier_point.reasons
FROM store.run
JOIN store.frontier_point
    ON frontier_point.run_key = run.run_key
WHERE run.status = 'published';
