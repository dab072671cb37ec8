-- Question 1 of DESIGN §4: verdict, age, coverage, worst broker and open criticals of each cluster.
CREATE OR REPLACE VIEW advisor.cluster_latest AS
SELECT
    newest.time,
    newest.cluster,
    newest.run_id,
    plan.verdict,
    plan.plan_id,
    snapshot.time AS snapshot_time,
    greatest(extract(epoch FROM now() - snapshot.time), 0)::double precision AS age_seconds,
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
    WHERE plan_resource.run_key = newest.run_key AND plan_resource.left_out_code IS NOT NULL
) AS left_out
LEFT JOIN LATERAL (
    SELECT resource_score.resource, resource_score.skew, resource_score.worst_broker
    FROM store.resource_score
    -- Of the resources that the plan is about: what is only measured steers nothing.
    JOIN store.plan_resource
        ON plan_resource.run_key = resource_score.run_key AND plan_resource.resource = resource_score.resource
    WHERE resource_score.run_key = newest.run_key
    ORDER BY resource_score.skew DESC, resource_score.resource
    LIMIT 1
) AS worst ON true;
