-- Health of the advisor. Each query begins with its name and its purpose.

-- name: cluster_health
-- One row a cluster, for the file that Prometheus reads.
SELECT
    cluster, last_snapshot_at, last_run_state, last_published_at, published_duration_seconds, published_7d,
    unpublished_7d, refused_snapshots_7d, failures_7d
FROM advisor.advisor_health
ORDER BY cluster
