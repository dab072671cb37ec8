-- Question 1 of DESIGN §4: verdict, age, coverage, worst broker and open criticals of each cluster.
CREATE OR REPLACE VIEW advisor.cluster_latest AS
SELECT
    newest.time,
    newest.cluster,
    newest.run_id,
    plan.verdict,
    plan.plan_id,
    snapshot.time AS snapshot_time,
    extract(epoch FROM now() - snapshot.time)::double precision AS age_seconds,
    read.time AS newest_snapshot_time,
    snapshot.broker_count,
    snapshot.topic_count,
    snapshot.partition_count,
    snapshot.group_count,
    snapshot.gap_count,
    left_out.resources AS left_out_count,
    worst.worst_broker,
    worst.resource AS worst_resource,
    worst.skew AS worst_skew,
    found.critical AS critical_count,
    found.high AS high_count,
    found.all AS finding_count,
    plan.replica_moves,
    plan.bytes,
    plan.leader_changes
FROM store.newest_run AS newest
JOIN store.snapshot ON snapshot.snapshot_key = newest.snapshot_key
JOIN store.plan ON plan.run_key = newest.run_key
LEFT JOIN store.newest_snapshot AS read ON read.cluster = newest.cluster
CROSS JOIN LATERAL (
    SELECT
        count(*) FILTER (WHERE severity = 'critical') AS critical,
        count(*) FILTER (WHERE severity = 'high') AS high,
        count(*) FILTER (WHERE severity NOT IN ('info', 'ok')) AS "all"
    FROM store.finding
    WHERE finding.run_key = newest.run_key
) AS found
CROSS JOIN LATERAL (
    SELECT count(*) AS resources
    FROM store.plan_resource
    WHERE plan_resource.run_key = newest.run_key AND plan_resource.left_out_because IS NOT NULL
) AS left_out
LEFT JOIN LATERAL (
    SELECT resource_score.resource, resource_score.skew, resource_score.worst_broker
    FROM store.resource_score
    WHERE resource_score.run_key = newest.run_key
    ORDER BY resource_score.skew DESC, resource_score.resource
    LIMIT 1
) AS worst ON true;

COMMENT ON VIEW advisor.cluster_latest IS 'One line a cluster: the newest published advisory in short.';
COMMENT ON COLUMN advisor.cluster_latest.time IS 'When the advisory was started.';
COMMENT ON COLUMN advisor.cluster_latest.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.cluster_latest.run_id IS 'The newest published advisory.';
COMMENT ON COLUMN advisor.cluster_latest.verdict IS 'rebalance, nothing_to_do, cannot_tell, infeasible or not_fixable_by_moving.';
COMMENT ON COLUMN advisor.cluster_latest.plan_id IS 'sha256 of plan.json.';
COMMENT ON COLUMN advisor.cluster_latest.snapshot_time IS 'When the cluster was read for it.';
COMMENT ON COLUMN advisor.cluster_latest.age_seconds IS 'Age of that reading now.';
COMMENT ON COLUMN advisor.cluster_latest.newest_snapshot_time IS 'The newest reading of the cluster, advised on or not.';
COMMENT ON COLUMN advisor.cluster_latest.broker_count IS 'Brokers.';
COMMENT ON COLUMN advisor.cluster_latest.topic_count IS 'Topics.';
COMMENT ON COLUMN advisor.cluster_latest.partition_count IS 'Partitions.';
COMMENT ON COLUMN advisor.cluster_latest.group_count IS 'Groups.';
COMMENT ON COLUMN advisor.cluster_latest.gap_count IS 'Things that could not be read.';
COMMENT ON COLUMN advisor.cluster_latest.left_out_count IS 'Resources left out of advice because nobody measured them.';
COMMENT ON COLUMN advisor.cluster_latest.worst_broker IS 'Broker with the highest level over the mean, over all resources.';
COMMENT ON COLUMN advisor.cluster_latest.worst_resource IS 'Resource of that.';
COMMENT ON COLUMN advisor.cluster_latest.worst_skew IS 'How many times the mean that is.';
COMMENT ON COLUMN advisor.cluster_latest.critical_count IS 'Open findings of severity critical.';
COMMENT ON COLUMN advisor.cluster_latest.high_count IS 'Open findings of severity high.';
COMMENT ON COLUMN advisor.cluster_latest.finding_count IS 'Findings worse than info.';
COMMENT ON COLUMN advisor.cluster_latest.replica_moves IS 'Replica moves of the plan.';
COMMENT ON COLUMN advisor.cluster_latest.bytes IS 'Bytes of the plan; NULL where sizes are unknown.';
COMMENT ON COLUMN advisor.cluster_latest.leader_changes IS 'Leader changes of the plan.';
