CREATE OR REPLACE VIEW advisor.frontier_point_latest AS
SELECT
    newest.started_at,
    newest.cluster,
    newest.run_id,
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
FROM store.newest_run AS newest
JOIN store.frontier_point
    ON frontier_point.run_key = newest.run_key;

COMMENT ON VIEW advisor.frontier_point_latest IS 'Balance against bytes of the plan of the newest published advisory of each cluster.';
COMMENT ON COLUMN advisor.frontier_point_latest.started_at IS 'Start of the advisory.';
COMMENT ON COLUMN advisor.frontier_point_latest.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.frontier_point_latest.run_id IS 'Id of the advisory.';
COMMENT ON COLUMN advisor.frontier_point_latest.position IS 'From 1, in the order of the plan.';
COMMENT ON COLUMN advisor.frontier_point_latest.tolerance IS 'Band.';
COMMENT ON COLUMN advisor.frontier_point_latest.bytes IS 'Bytes it costs.';
COMMENT ON COLUMN advisor.frontier_point_latest.replica_moves IS 'Replica moves it costs.';
COMMENT ON COLUMN advisor.frontier_point_latest.leader_changes IS 'Leader changes it costs.';
COMMENT ON COLUMN advisor.frontier_point_latest.seconds IS 'Duration of all waves at the throttle; NULL where a size is unknown.';
COMMENT ON COLUMN advisor.frontier_point_latest.lower_bound_bytes IS 'No plan within this band copies less.';
COMMENT ON COLUMN advisor.frontier_point_latest.skew IS 'Skew by resource.';
COMMENT ON COLUMN advisor.frontier_point_latest.name IS 'cheap, knee or even.';
COMMENT ON COLUMN advisor.frontier_point_latest.is_recommended IS 'True for the point of the plan.';
COMMENT ON COLUMN advisor.frontier_point_latest.reasons IS 'Reasons of name and recommendation: a list of facts, each with code and args.';
