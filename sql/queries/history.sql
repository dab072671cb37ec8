-- Hourly loads. Each query begins with its name and its purpose.

-- name: insert_load_reading
-- Returns no row if the rates of the snapshot are stored already.
INSERT INTO store.load_reading (
    snapshot_key, cluster, captured_at, in_bytes_window_s, out_bytes_window_s, cpu_window_s, in_messages_window_s
)
VALUES (
    %(snapshot_key)s, %(cluster)s, %(captured_at)s, %(in_bytes_per_s)s, %(out_bytes_per_s)s, %(cpu_percent)s,
    %(in_messages_per_s)s
)
ON CONFLICT (snapshot_key) DO NOTHING
RETURNING snapshot_key

-- name: load_readings
-- Snapshots of a window, oldest first, without those that the input gate refused. Uses index load_reading_of_cluster.
SELECT
    reading.snapshot_key, reading.captured_at, reading.in_bytes_window_s AS in_bytes_per_s,
    reading.out_bytes_window_s AS out_bytes_per_s, reading.cpu_window_s AS cpu_percent,
    reading.in_messages_window_s AS in_messages_per_s
FROM store.load_reading AS reading
LEFT JOIN store.snapshot ON snapshot.snapshot_key = reading.snapshot_key
WHERE reading.cluster = %(cluster)s AND reading.captured_at > %(after)s AND reading.captured_at <= %(until)s
    AND snapshot.status IS DISTINCT FROM 'blocked'
ORDER BY reading.captured_at, reading.snapshot_key

-- name: load_history
-- Rates of one snapshot, a row a topic, as numbers separated by blanks. Uses index load_history_of_reading.
SELECT
    topic, topic_id, array_to_string(in_bytes_per_s, ' ', 'nan') AS in_bytes_per_s,
    array_to_string(out_bytes_per_s, ' ', 'nan') AS out_bytes_per_s,
    array_to_string(cpu_percent, ' ', 'nan') AS cpu_percent,
    array_to_string(in_messages_per_s, ' ', 'nan') AS in_messages_per_s,
    coalesce(
        cardinality(in_bytes_per_s), cardinality(out_bytes_per_s), cardinality(cpu_percent), cardinality(in_messages_per_s)
    ) AS partition_count
FROM store.load_history
WHERE snapshot_key = %(snapshot_key)s AND captured_at = %(captured_at)s
ORDER BY topic

-- name: forget_load_readings
-- Heads of snapshots whose rates were dropped with their week.
DELETE FROM store.load_reading WHERE captured_at < %(before)s

-- name: disk_forecasts
-- Disk forecast of a run's brokers, if its snapshot is the newest of the cluster; the plan is the run's, published or not.
SELECT
    forecast.broker, forecast.used_ratio, forecast.days_of_history::integer AS days_of_history,
    forecast.reaches_85_percent_at AS full_at,
    CASE
        WHEN plan_broker.broker IS NULL THEN forecast.reaches_85_percent_at
        WHEN free_space.bytes <= 0 THEN forecast.captured_at
        WHEN free_space.bytes < forecast.growth_bytes_per_day * 36500
            THEN forecast.captured_at + free_space.bytes / forecast.growth_bytes_per_day * interval '1 day'
    END AS full_at_with_plan,
    forecast.growth_bytes_per_day
FROM store.run
JOIN store.newest_snapshot AS newest ON newest.snapshot_key = run.snapshot_key
JOIN advisor.broker_disk_forecast AS forecast ON forecast.cluster = run.cluster
LEFT JOIN store.plan_broker
    ON plan_broker.run_key = run.run_key AND plan_broker.started_at = run.started_at
    AND plan_broker.broker = forecast.broker AND plan_broker.resource = 'disk'
CROSS JOIN LATERAL (
    SELECT
        0.85 * forecast.total_bytes - forecast.used_bytes
        - coalesce(plan_broker.load_after - plan_broker.load_before, 0) AS bytes
) AS free_space
WHERE run.run_id = %(run_id)s
ORDER BY forecast.broker
