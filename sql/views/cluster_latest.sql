-- Question 1 of docs/sql-and-grafana.md: verdict, age, coverage, worst broker and open criticals of each cluster.
CREATE OR REPLACE VIEW advisor.cluster_latest AS
SELECT
    newest.started_at,
    newest.cluster,
    newest.run_id,
    plan.verdict,
    plan.plan_id,
    snapshot.captured_at AS snapshot_captured_at,
    greatest(extract(epoch FROM now() - snapshot.captured_at), 0)::double precision AS age_seconds,
    read.captured_at AS newest_snapshot_captured_at,
    snapshot.broker_count,
    snapshot.topic_count,
    snapshot.partition_count,
    snapshot.group_count,
    snapshot.gap_count,
    excluded.resources AS excluded_resource_count,
    worst.worst_broker,
    worst.resource AS worst_resource,
    worst.skew AS worst_skew,
    found.critical AS critical_count,
    found.high AS high_count,
    found.all AS finding_count,
    plan.replica_moves,
    plan.bytes,
    plan.leader_changes,
    plan.expires_at
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
    WHERE finding.run_key = newest.run_key AND finding.muted_until IS NULL
) AS found
CROSS JOIN LATERAL (
    SELECT count(*) AS resources
    FROM store.plan_resource
    WHERE plan_resource.run_key = newest.run_key AND plan_resource.exclusion_reason_code IS NOT NULL
) AS excluded
LEFT JOIN LATERAL (
    SELECT resource_score.resource, resource_score.skew, resource_score.worst_broker
    FROM store.resource_score
    -- Only resources that the plan balances or excludes.
    JOIN store.plan_resource
        ON plan_resource.run_key = resource_score.run_key AND plan_resource.resource = resource_score.resource
    WHERE resource_score.run_key = newest.run_key
    ORDER BY resource_score.skew DESC, resource_score.resource
    LIMIT 1
) AS worst ON true;

COMMENT ON VIEW advisor.cluster_latest IS 'Summary of the newest published advisory of each cluster.';
COMMENT ON COLUMN advisor.cluster_latest.started_at IS 'Start of the advisory.';
COMMENT ON COLUMN advisor.cluster_latest.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.cluster_latest.run_id IS 'The newest published advisory.';
COMMENT ON COLUMN advisor.cluster_latest.verdict IS 'rebalance, nothing_to_do, cannot_tell, infeasible or not_fixable_by_moving.';
COMMENT ON COLUMN advisor.cluster_latest.plan_id IS 'sha256 of plan.json.';
COMMENT ON COLUMN advisor.cluster_latest.snapshot_captured_at IS 'Time of the snapshot of the advisory.';
COMMENT ON COLUMN advisor.cluster_latest.age_seconds IS 'Age of that snapshot now.';
COMMENT ON COLUMN advisor.cluster_latest.newest_snapshot_captured_at IS 'Time of the newest snapshot of the cluster, with or without an advisory.';
COMMENT ON COLUMN advisor.cluster_latest.broker_count IS 'Brokers.';
COMMENT ON COLUMN advisor.cluster_latest.topic_count IS 'Topics.';
COMMENT ON COLUMN advisor.cluster_latest.partition_count IS 'Partitions.';
COMMENT ON COLUMN advisor.cluster_latest.group_count IS 'Groups.';
COMMENT ON COLUMN advisor.cluster_latest.gap_count IS 'Coverage gaps.';
COMMENT ON COLUMN advisor.cluster_latest.excluded_resource_count IS 'Resources that the plan does not balance because their loads are unknown.';
COMMENT ON COLUMN advisor.cluster_latest.worst_broker IS 'Broker with the highest level over the mean, over all resources.';
COMMENT ON COLUMN advisor.cluster_latest.worst_resource IS 'Resource of worst_broker.';
COMMENT ON COLUMN advisor.cluster_latest.worst_skew IS 'Level of worst_broker over the mean.';
COMMENT ON COLUMN advisor.cluster_latest.critical_count IS 'Findings of severity critical; here and below, muted ones are left out.';
COMMENT ON COLUMN advisor.cluster_latest.high_count IS 'Findings of severity high.';
COMMENT ON COLUMN advisor.cluster_latest.finding_count IS 'Findings worse than info.';
COMMENT ON COLUMN advisor.cluster_latest.replica_moves IS 'Replica moves of the plan.';
COMMENT ON COLUMN advisor.cluster_latest.bytes IS 'Bytes of the plan; NULL where sizes are unknown.';
COMMENT ON COLUMN advisor.cluster_latest.leader_changes IS 'Leader changes of the plan.';
COMMENT ON COLUMN advisor.cluster_latest.expires_at IS 'End of the plan; NULL: the snapshot has no time.';
