-- Queries of rebalance_advisor.store about the advisor itself. Each begins with its name and one line that says what for.

-- name: cluster_health
-- One line a cluster, for the file that Prometheus reads.
SELECT
    cluster, last_reading_at, last_run_state, last_published_at, published_duration_seconds, published_7d,
    unpublished_7d, refused_readings_7d, failures_7d
FROM advisor.advisor_health
ORDER BY cluster

-- name: list_open_transactions
-- Who else has a transaction open in this database, the oldest ones: pid, name, since when (UTC).
SELECT pid, application_name, xact_start AT TIME ZONE 'UTC'
FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start IS NOT NULL
ORDER BY xact_start
LIMIT 3;

-- name: list_own_relations
-- Tables, partitioned ones and views of these schemas that the current role owns; the partitions of a table go with it.
SELECT space.nspname, relation.relname
FROM pg_class AS relation
JOIN pg_namespace AS space ON space.oid = relation.relnamespace
WHERE space.nspname = ANY(%(schemas)s) AND relation.relkind IN ('r', 'p', 'v') AND NOT relation.relispartition
    AND pg_has_role(relation.relowner, 'USAGE')
ORDER BY relation.relkind, space.nspname, relation.relname;

-- name: find_deadlock_milliseconds
-- How long the server lets two wait for each other until it ends one of them.
SELECT setting::integer FROM pg_settings WHERE name = 'deadlock_timeout';
