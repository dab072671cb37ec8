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

COMMENT ON VIEW advisor.frontier_point IS 'Balance against bytes of every published plan.';
COMMENT ON COLUMN advisor.frontier_point.time IS 'When the advisory was started.';
COMMENT ON COLUMN advisor.frontier_point.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.frontier_point.run_id IS 'The advisory that says so.';
COMMENT ON COLUMN advisor.frontier_point.position IS 'From 1, in the order of the plan.';
COMMENT ON COLUMN advisor.frontier_point.tolerance IS 'Band.';
COMMENT ON COLUMN advisor.frontier_point.bytes IS 'Bytes it costs.';
COMMENT ON COLUMN advisor.frontier_point.replica_moves IS 'Replica moves it costs.';
COMMENT ON COLUMN advisor.frontier_point.leader_changes IS 'Leader changes it costs.';
COMMENT ON COLUMN advisor.frontier_point.lower_bound_bytes IS 'Nobody does it below this.';
COMMENT ON COLUMN advisor.frontier_point.skew IS 'Skew by resource.';
COMMENT ON COLUMN advisor.frontier_point.name IS 'cheap, knee or even.';
COMMENT ON COLUMN advisor.frontier_point.is_recommended IS 'The one that the plan is.';
COMMENT ON COLUMN advisor.frontier_point.reason IS 'Why.';
