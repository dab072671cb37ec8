-- Queries of rebalance_advisor.store about snapshots. Each begins with its name and one line that says what for.

-- name: find_snapshot
-- Is this reading stored already, with its rows?
SELECT snapshot_key FROM store.snapshot WHERE snapshot_id = %(snapshot_id)s AND NOT is_pruned

-- name: ensure_week_of
-- The moment a reading stands for, once there is room for it: its own time, else now.
SELECT moment
FROM (SELECT coalesce(%(captured_at)s::text::timestamptz, now()) AS moment) AS reading
CROSS JOIN LATERAL (SELECT store.ensure_week(moment)) AS made

-- name: insert_snapshot
-- Returns nothing where the same reading is stored already; one whose rows were pruned is filled again.
INSERT INTO store.snapshot (
    snapshot_id, cluster, time, captured_at, source, cluster_id, kafka_version, broker_count, topic_count,
    partition_count, replica_count, group_count, member_count, gap_count, features, quotas
)
VALUES (
    %(snapshot_id)s, %(cluster)s, %(time)s, %(captured_at)s, %(source)s, %(cluster_id)s, %(kafka_version)s,
    %(broker_count)s, %(topic_count)s, %(partition_count)s, %(replica_count)s, %(group_count)s, %(member_count)s,
    %(gap_count)s, %(features)s, %(quotas)s
)
ON CONFLICT (snapshot_id) DO UPDATE
SET is_pruned = false, status = 'staged', time = excluded.time, stored_at = excluded.stored_at
WHERE snapshot.is_pruned
RETURNING snapshot_key

-- name: analyze_tables
-- Statistics of what was just copied.
SELECT store.analyze_tables(%(names)s, %(moment)s::timestamptz)

-- name: latest_snapshot
-- What an advisory starts from; uses index snapshot_newest.
SELECT snapshot_id
FROM store.snapshot
WHERE cluster = %(cluster)s AND status <> 'blocked' AND NOT is_pruned
ORDER BY time DESC, snapshot_key DESC
LIMIT 1

-- name: mark_snapshot
-- staged -> passed or blocked; a gate that runs again may change its mind.
UPDATE store.snapshot
SET status = CASE WHEN %(is_blocked)s THEN 'blocked' ELSE 'passed' END
WHERE snapshot_id = %(snapshot_id)s

-- name: snapshot_head
-- The snapshot's own row.
SELECT snapshot_key, time, cluster, captured_at, source, cluster_id, kafka_version, is_pruned, features, quotas
FROM store.snapshot
WHERE snapshot_id = %(snapshot_id)s

-- name: snapshot_brokers
-- Brokers in the order of the reading.
SELECT
    broker, rack, host, port, state, is_controller, configs, capacity_disk_bytes, capacity_in_bytes_per_s,
    capacity_out_bytes_per_s, capacity_cpu_percent
FROM store.broker
WHERE snapshot_key = %(snapshot_key)s AND time = %(time)s
ORDER BY position

-- name: snapshot_log_dirs
-- Log directories in the order of the reading.
SELECT broker, path, total_bytes, usable_bytes, error, is_cordoned
FROM store.log_dir
WHERE snapshot_key = %(snapshot_key)s AND time = %(time)s
ORDER BY broker, position

-- name: snapshot_topics
-- Topics in the order of the reading.
SELECT topic, topic_id, is_internal, configs
FROM store.topic
WHERE snapshot_key = %(snapshot_key)s AND time = %(time)s
ORDER BY position

-- name: snapshot_partitions
-- The partition table as columns of numbers: topics by their position, arrays with blanks between, -1 for unknown.
SELECT
    topic.position AS topic,
    placed.partition,
    cardinality(placed.replicas) AS replica_count,
    array_to_string(placed.replicas, ' ') AS replicas,
    coalesce(placed.leader, -1) AS leader,
    array_to_string(placed.log_bytes, ' ', '-1') AS log_bytes,
    coalesce(placed.start_offset, -1) AS start_offset,
    coalesce(placed.end_offset, -1) AS end_offset,
    CASE WHEN placed.isr IS NULL THEN '' ELSE (
        SELECT string_agg(CASE WHEN replica.broker = ANY (placed.isr) THEN '1' ELSE '0' END, ' ' ORDER BY replica.place)
        FROM unnest(placed.replicas) WITH ORDINALITY AS replica (broker, place)
    ) END AS in_sync,
    coalesce(array_to_string(placed.adding, ' '), '') AS adding,
    coalesce(array_to_string(placed.removing, ' '), '') AS removing,
    coalesce(array_to_string(placed.offline, ' '), '') AS offline,
    coalesce(array_to_string(placed.observers, ' '), '') AS observers,
    coalesce(array_to_string(placed.eligible, ' '), '') AS eligible,
    coalesce(array_to_string(placed.log_dirs, ' ', '-1'), '') AS log_dirs,
    coalesce(placed.future::text, '') AS future,
    coalesce(placed.local_start_offset::text, '') AS local_start_offset
FROM store.partition AS placed
JOIN store.topic
    ON topic.snapshot_key = placed.snapshot_key AND topic.time = placed.time AND topic.topic = placed.topic
WHERE placed.snapshot_key = %(snapshot_key)s AND placed.time = %(time)s
ORDER BY topic.position, placed.partition

-- name: snapshot_load_sources
-- Which loads there are, and where from.
SELECT kind, source, window_s
FROM store.load_source
WHERE snapshot_key = %(snapshot_key)s

-- name: snapshot_loads
-- Loads in the order of the partition table; NaN for unknown.
SELECT
    coalesce(load.log_bytes, 'NaN') AS log_bytes,
    coalesce(load.in_bytes_per_s, 'NaN') AS in_bytes_per_s,
    coalesce(load.out_bytes_per_s, 'NaN') AS out_bytes_per_s,
    coalesce(load.cpu_percent, 'NaN') AS cpu_percent,
    coalesce(load.in_messages_per_s, 'NaN') AS in_messages_per_s
FROM store.load
JOIN store.topic
    ON topic.snapshot_key = load.snapshot_key AND topic.time = load.time AND topic.topic = load.topic
WHERE load.snapshot_key = %(snapshot_key)s AND load.time = %(time)s
ORDER BY topic.position, load.partition

-- name: snapshot_groups
-- Groups in the order of the reading.
SELECT
    group_id, type, protocol_type, protocol, state, generation, coordinator, assignment_epoch, subtopologies, configs
FROM store.consumer_group
WHERE snapshot_key = %(snapshot_key)s AND time = %(time)s
ORDER BY position

-- name: snapshot_members
-- Members in the order of the reading.
SELECT
    group_id, member_id, instance_id, client_id, host, rack, subscription, subscribed_regex, owned, assigned, target,
    generation, user_data, decode_error, is_classic, process_id, tasks, target_tasks, subscription_version
FROM store.member
WHERE snapshot_key = %(snapshot_key)s AND time = %(time)s
ORDER BY group_id, position

-- name: snapshot_committed_offsets
-- Committed offsets in the order of the reading.
SELECT group_id, topic, partitions, offsets, lags, read_messages_per_s
FROM store.committed_offset
WHERE snapshot_key = %(snapshot_key)s AND time = %(time)s
ORDER BY group_id, position

-- name: snapshot_coverage
-- What could not be read, in the order of the reading.
SELECT subject_type, subject, what, reason
FROM store.coverage_gap
WHERE snapshot_key = %(snapshot_key)s
ORDER BY position
