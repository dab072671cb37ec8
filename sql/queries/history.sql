-- Queries of rebalance_advisor.store about hourly loads. Each begins with its name and one line that says what for.

-- name: insert_load_reading
-- Returns nothing where the reading's rates are kept already.
INSERT INTO store.load_reading (
    snapshot_key, cluster, time, in_bytes_window_s, out_bytes_window_s, cpu_window_s, in_messages_window_s
)
VALUES (
    %(snapshot_key)s, %(cluster)s, %(time)s, %(in_bytes_per_s)s, %(out_bytes_per_s)s, %(cpu_percent)s,
    %(in_messages_per_s)s
)
ON CONFLICT (snapshot_key) DO NOTHING
RETURNING snapshot_key

-- name: load_readings
-- Readings of a window, oldest first; not those that the input gate refused. Uses index load_reading_of_cluster.
SELECT
    reading.snapshot_key, reading.time, reading.in_bytes_window_s AS in_bytes_per_s,
    reading.out_bytes_window_s AS out_bytes_per_s, reading.cpu_window_s AS cpu_percent,
    reading.in_messages_window_s AS in_messages_per_s
FROM store.load_reading AS reading
LEFT JOIN store.snapshot ON snapshot.snapshot_key = reading.snapshot_key
WHERE reading.cluster = %(cluster)s AND reading.time > %(after)s AND reading.time <= %(until)s
    AND snapshot.status IS DISTINCT FROM 'blocked'
ORDER BY reading.time, reading.snapshot_key

-- name: load_history
-- What one reading measured, a row a topic; numbers with blanks between. Uses index load_history_of_reading.
SELECT
    topic, topic_id, array_to_string(in_bytes_per_s, ' ', 'nan') AS in_bytes_per_s,
    array_to_string(out_bytes_per_s, ' ', 'nan') AS out_bytes_per_s,
    array_to_string(cpu_percent, ' ', 'nan') AS cpu_percent,
    array_to_string(in_messages_per_s, ' ', 'nan') AS in_messages_per_s,
    coalesce(
        cardinality(in_bytes_per_s), cardinality(out_bytes_per_s), cardinality(cpu_percent), cardinality(in_messages_per_s)
    ) AS partition_count
FROM store.load_history
WHERE snapshot_key = %(snapshot_key)s AND time = %(time)s
ORDER BY topic

-- name: forget_load_readings
-- Their rows went with their week.
DELETE FROM store.load_reading WHERE time < %(before)s
