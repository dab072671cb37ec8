-- Snapshots. Each query begins with its name and its purpose.

-- name: find_snapshot
-- Whether this snapshot is stored with its rows.
SELECT snapshot_key FROM store.snapshot WHERE snapshot_id = %(snapshot_id)s AND NOT is_pruned

-- name: find_moment
-- Whether the cluster has a snapshot of this time, pruned or not. Uses index snapshot_newest.
SELECT snapshot_key
FROM store.snapshot
WHERE cluster = %(cluster)s AND captured_at = %(captured_at_text)s::text::timestamptz
LIMIT 1

-- name: ensure_week_of
-- Create the week of a snapshot and return its time: its own one, else now.
SELECT moment
FROM (SELECT coalesce(%(captured_at_text)s::text::timestamptz, now()) AS moment) AS reading
CROSS JOIN LATERAL (SELECT store.ensure_week(moment)) AS made

-- name: insert_snapshot
-- Returns no row if the same snapshot is stored already; a pruned one is filled again. Without an id it gets a unique
-- temporary one, until name_snapshot.
INSERT INTO store.snapshot (
    snapshot_id, cluster, captured_at, captured_at_text, source, cluster_id, kafka_version, broker_count, topic_count,
    partition_count, replica_count, group_count, member_count, gap_count, features, quotas
)
VALUES (
    coalesce(%(snapshot_id)s::text, 'transaction ' || pg_current_xact_id()),
    %(cluster)s, %(captured_at)s, %(captured_at_text)s, %(source)s, %(cluster_id)s, %(kafka_version)s,
    %(broker_count)s, %(topic_count)s, %(partition_count)s, %(replica_count)s, %(group_count)s, %(member_count)s,
    %(gap_count)s, %(features)s, %(quotas)s
)
ON CONFLICT (snapshot_id) DO UPDATE
SET is_pruned = false, status = 'staged', captured_at = excluded.captured_at, stored_at = excluded.stored_at
WHERE snapshot.is_pruned
RETURNING snapshot_key, xmax <> 0 AS was_pruned

-- name: name_snapshot
-- Id of a snapshot whose rows are copied. Waits for a transaction that saves the same snapshot.
UPDATE store.snapshot
SET snapshot_id = %(snapshot_id)s
WHERE snapshot_key = %(snapshot_key)s

-- name: analyze_tables
-- Statistics of the copied rows.
SELECT store.analyze_tables(%(names)s, %(moment)s::timestamptz)

-- name: latest_snapshot
-- Newest snapshot of a cluster, without one from a clock that was ahead (view newest_snapshot). Uses index snapshot_newest.
SELECT snapshot_id
FROM store.snapshot
WHERE cluster = %(cluster)s AND status <> 'blocked' AND NOT is_pruned
    AND captured_at <= least(stored_at, now()) + interval '5 minutes'
    AND (%(before)s::timestamptz IS NULL OR captured_at < %(before)s)
ORDER BY captured_at DESC, snapshot_key DESC
LIMIT 1

-- name: mark_snapshot
-- staged -> passed or blocked; a gate that runs again may change the status.
UPDATE store.snapshot
SET status = CASE WHEN %(is_blocked)s THEN 'blocked' ELSE 'passed' END
WHERE snapshot_id = %(snapshot_id)s

-- name: snapshot_head
-- The snapshot's own row.
SELECT snapshot_key, captured_at, cluster, captured_at_text, source, cluster_id, kafka_version, is_pruned, features, quotas
FROM store.snapshot
WHERE snapshot_id = %(snapshot_id)s

-- name: snapshot_brokers
-- Brokers in the order of the snapshot.
SELECT
    broker, rack, host, port, state, is_controller, configs, capacity_disk_bytes, capacity_in_bytes_per_s,
    capacity_out_bytes_per_s, capacity_cpu_percent
FROM store.broker
WHERE snapshot_key = %(snapshot_key)s AND captured_at = %(captured_at)s
ORDER BY position

-- name: snapshot_log_dirs
-- Log directories in the order of the snapshot.
SELECT broker, path, total_bytes, usable_bytes, error, is_cordoned, stray_logs, stray_bytes, largest_stray
FROM store.log_dir
WHERE snapshot_key = %(snapshot_key)s AND captured_at = %(captured_at)s
ORDER BY broker, position

-- name: snapshot_topics
-- Topics in the order of the snapshot.
SELECT topic, topic_id, is_internal, configs
FROM store.topic
WHERE snapshot_key = %(snapshot_key)s AND captured_at = %(captured_at)s
ORDER BY position

-- name: snapshot_partitions
-- The partition table in blocks, each column a text of numbers separated by blanks: topics by position, -1 for unknown.
-- Sparse columns are lists of lines, row number first.
SELECT
    count(*) AS row_count,
    string_agg(topic::text, ' ' ORDER BY place) AS topic,
    string_agg(partition::text, ' ' ORDER BY place) AS partition,
    string_agg(cardinality(replicas)::text, ' ' ORDER BY place) AS replica_count,
    string_agg(array_to_string(replicas, ' '), ' ' ORDER BY place) AS replicas,
    string_agg(coalesce(leader, -1)::text, ' ' ORDER BY place) AS leader,
    string_agg(array_to_string(log_bytes, ' ', '-1'), ' ' ORDER BY place) AS log_bytes,
    string_agg(coalesce(start_offset, -1)::text, ' ' ORDER BY place) AS start_offset,
    string_agg(coalesce(end_offset, -1)::text, ' ' ORDER BY place) AS end_offset,
    string_agg(in_sync, ' ' ORDER BY place) AS in_sync,
    string_agg(array_to_string(log_dirs, ' ', '-1'), ' ' ORDER BY place) AS log_dirs,
    string_agg(place || ' ' || array_to_string(adding, ' '), E'\n') AS adding,
    string_agg(place || ' ' || array_to_string(removing, ' '), E'\n') AS removing,
    string_agg(place || ' ' || array_to_string(offline, ' '), E'\n') AS offline,
    string_agg(place || ' ' || array_to_string(observers, ' '), E'\n') AS observers,
    string_agg(place || ' ' || array_to_string(eligible, ' '), E'\n') AS eligible,
    string_agg(place || ' ' || future::text, E'\n') AS future,
    string_agg(place || ' ' || local_start_offset, E'\n') AS local_start_offset
FROM (
    SELECT
        row_number() OVER (ORDER BY topic.position, placed.partition) - 1 AS place,
        topic.position AS topic,
        placed.partition, placed.replicas, placed.leader, placed.log_bytes, placed.start_offset, placed.end_offset,
        placed.adding, placed.removing, placed.offline, placed.observers, placed.eligible, placed.log_dirs,
        placed.future, placed.local_start_offset,
        CASE
            WHEN placed.isr = placed.replicas THEN rtrim(repeat('1 ', cardinality(placed.replicas)))
            WHEN placed.isr IS NOT NULL THEN (
                SELECT string_agg(
                    CASE WHEN replica.broker = ANY (placed.isr) THEN '1' ELSE '0' END, ' ' ORDER BY replica.place)
                FROM unnest(placed.replicas) WITH ORDINALITY AS replica (broker, place)
            )
        END AS in_sync
    FROM store.partition AS placed
    JOIN store.topic
        ON topic.snapshot_key = placed.snapshot_key AND topic.captured_at = placed.captured_at AND topic.topic = placed.topic
    WHERE placed.snapshot_key = %(snapshot_key)s AND placed.captured_at = %(captured_at)s
) AS listed
GROUP BY place / 50000
ORDER BY place / 50000

-- name: snapshot_load_sources
-- Kinds of loads and their sources.
SELECT kind, source, window_s
FROM store.load_source
WHERE snapshot_key = %(snapshot_key)s

-- name: snapshot_loads
-- Loads in the order of the partition table, in blocks: numbers separated by blanks, NaN for unknown.
SELECT
    string_agg(log_bytes::text, ' ' ORDER BY place) AS log_bytes,
    string_agg(in_bytes_per_s::text, ' ' ORDER BY place) AS in_bytes_per_s,
    string_agg(out_bytes_per_s::text, ' ' ORDER BY place) AS out_bytes_per_s,
    string_agg(cpu_percent::text, ' ' ORDER BY place) AS cpu_percent,
    string_agg(in_messages_per_s::text, ' ' ORDER BY place) AS in_messages_per_s
FROM (
    SELECT
        row_number() OVER (ORDER BY topic.position, load.partition) - 1 AS place,
        coalesce(load.log_bytes, 'NaN') AS log_bytes,
        coalesce(load.in_bytes_per_s, 'NaN') AS in_bytes_per_s,
        coalesce(load.out_bytes_per_s, 'NaN') AS out_bytes_per_s,
        coalesce(load.cpu_percent, 'NaN') AS cpu_percent,
        coalesce(load.in_messages_per_s, 'NaN') AS in_messages_per_s
    FROM store.load
    JOIN store.topic
        ON topic.snapshot_key = load.snapshot_key AND topic.captured_at = load.captured_at AND topic.topic = load.topic
    WHERE load.snapshot_key = %(snapshot_key)s AND load.captured_at = %(captured_at)s
) AS listed
GROUP BY place / 50000
ORDER BY place / 50000

-- name: snapshot_groups
-- Groups in the order of the snapshot.
SELECT
    group_id, type, protocol_type, protocol, state, generation, coordinator, assignment_epoch, subtopologies, configs,
    stated_member_count, client, client_version
FROM store.consumer_group
WHERE snapshot_key = %(snapshot_key)s AND captured_at = %(captured_at)s
ORDER BY position

-- name: snapshot_members
-- Members in the order of the snapshot.
SELECT
    group_id, member_id, instance_id, client_id, host, rack, subscription, subscribed_regex, owned, assigned, target,
    generation, user_data, decode_error, is_classic, process_id, tasks, target_tasks, subscription_version,
    partition_count, task_offsets, task_end_offsets, worker
FROM store.member
WHERE snapshot_key = %(snapshot_key)s AND captured_at = %(captured_at)s
ORDER BY group_id, position

-- name: snapshot_committed_offsets
-- Committed offsets in the order of the snapshot.
SELECT group_id, topic, partitions, offsets, lags, read_messages_per_s
FROM store.committed_offset
WHERE snapshot_key = %(snapshot_key)s AND captured_at = %(captured_at)s
ORDER BY group_id, position

-- name: snapshot_coverage
-- Coverage gaps, in the order of the snapshot.
SELECT
    subject_type, subject,
    jsonb_build_object('code', missing_code, 'args', missing_args) AS what,
    jsonb_build_object('code', reason_code, 'args', reason_args) AS reason
FROM store.coverage_gap
WHERE snapshot_key = %(snapshot_key)s
ORDER BY position
