CREATE OR REPLACE VIEW advisor.frontier_point AS
SELECT
    run.started_at,
    run.cluster,
    run.run_id,
    frontier_point.position,
    frontier_point.tolerance,
    frontier_point.bytes,
    frontier_point.replica_moves,
    frontier_point.leader_changes,
    frontier_point.seconds,
    frontier_point.lower_bound_bytes,
    frontier_point.skew,
    frontier_point.name,
    frontier_point.is_recommended,
    frontier_point.reasons
FROM store.run
JOIN store.frontier_point
    ON frontier_point.run_key = run.run_key
WHERE run.status = 'published';

COMMENT ON VIEW advisor.frontier_point IS 'Balance against bytes of every published plan.';
COMMENT ON COLUMN advisor.frontier_point.started_at IS 'Start of the advisory.';
COMMENT ON COLUMN advisor.frontier_point.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.frontier_point.run_id IS 'Id of the advisory.';
COMMENT ON COLUMN advisor.frontier_point.position IS 'From 1, in the order of the plan.';
COMMENT ON COLUMN advisor.frontier_point.tolerance IS 'Band.';
COMMENT ON COLUMN advisor.frontier_point.bytes IS 'Bytes it costs.';
COMMENT ON COLUMN advisor.frontier_point.replica_moves IS 'Replica moves it costs.';
COMMENT ON COLUMN advisor.frontier_point.leader_changes IS 'Leader changes it costs.';
COMMENT ON COLUMN advisor.frontier_point.seconds IS 'Duration of all waves at the throttle; NULL where a size is unknown.';
COMMENT ON COLUMN advisor.frontier_point.lower_bound_bytes IS 'No plan within this band copies less.';
COMMENT ON COLUMN advisor.frontier_point.skew IS 'Skew by resource.';
COMMENT ON COLUMN advisor.frontier_point.name IS 'cheap, knee or even.';
COMMENT ON COLUMN advisor.frontier_point.is_recommended IS 'True for the point of the plan.';
COMMENT ON COLUMN advisor.frontier_point.reasons IS 'Reasons of name and recommendation: a list of facts, each with code and args.';
