-- Migration runner. Each query begins with its name and its purpose.

-- name: lock_migrations
-- One runner at a time. The key is "kafka" in ASCII.
SELECT pg_advisory_xact_lock(x'6b61666b61'::bigint)

-- name: list_own_relations
-- Tables, partitioned tables and views that the current role owns; the partitions of a table are locked with it.
SELECT relnamespace::regnamespace::text, relname
FROM pg_class
WHERE relnamespace IN ('store'::regnamespace, 'advisor'::regnamespace) AND relkind IN ('r', 'p', 'v')
    AND NOT relispartition AND pg_has_role(relowner, 'USAGE')
ORDER BY relkind, relnamespace, relname

-- name: list_own_views
-- Views that the current role owns.
SELECT relnamespace::regnamespace::text, relname
FROM pg_class
WHERE relnamespace IN ('store'::regnamespace, 'advisor'::regnamespace) AND relkind = 'v'
    AND pg_has_role(relowner, 'USAGE')

-- name: limit_lock_wait
-- For this transaction: half the time after which the server looks for a deadlock and ends one of its parties.
SELECT set_config('statement_timeout', greatest(1, setting::integer / 2) || 'ms', true)
FROM pg_settings
WHERE name = 'deadlock_timeout'

-- name: list_open_transactions
-- The oldest other transactions in this database: pid, name, start (UTC).
SELECT pid, application_name, xact_start AT TIME ZONE 'UTC'
FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start IS NOT NULL
ORDER BY xact_start
LIMIT 3

-- name: list_migrations
-- The migrations that this database has.
SELECT version, checksum FROM store.migration

-- name: record_migration
-- A migration was applied.
INSERT INTO store.migration (version, name, checksum) VALUES (%(version)s, %(name)s, %(checksum)s)
