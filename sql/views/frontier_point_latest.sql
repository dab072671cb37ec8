CREATE OR REPLACE VIEW advisor.frontier_point_latest AS
SELECT
    newest.time,
    newest.cluster,
    newest.run_id,
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
FROM store.newest_run AS newest
JOIN store.frontier_point AS each
    ON each.run_key = newest.run_key;

COMMENT ON VIEW advisor.frontier_point_latest IS 'Balance against bytes of the plan of the newest published advisory of each cluster.';
COMMENT ON COLUMN advisor.frontier_point_latest.time IS 'When the advisory was started.';
COMMENT ON COLUMN advisor.frontier_point_latest.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.frontier_point_latest.run_id IS 'The advisory that says so.';
COMMENT ON COLUMN advisor.frontier_point_latest.position IS 'From 1, in the order of the plan.';
COMMENT ON COLUMN advisor.frontier_point_latest.tolerance IS 'Band.';
COMMENT ON COLUMN advisor.frontier_point_latest.bytes IS 'Bytes it costs.';
COMMENT ON COLUMN advisor.frontier_point_latest.replica_moves IS 'Replica moves it costs.';
COMMENT ON COLUMN advisor.frontier_point_latest.leader_changes IS 'Leader changes it costs.';
COMMENT ON COLUMN advisor.frontier_point_latest.lower_bound_bytes IS 'Nobody does it below this.';
COMMENT ON COLUMN advisor.frontier_point_latest.skew IS 'Skew by resource.';
COMMENT ON COLUMN advisor.frontier_point_latest.name IS 'cheap, knee or even.';
COMMENT ON COLUMN advisor.frontier_point_latest.is_recommended IS 'The one that the plan is.';
COMMENT ON COLUMN advisor.frontier_point_latest.reason IS 'Why.';
