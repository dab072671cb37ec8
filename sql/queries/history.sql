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

-- name: disk_forecasts
-- Brokers of a run's reading, where that is the cluster's newest; the plan is the run's own, published or not.
SELECT
    forecast.broker, forecast.used_ratio, forecast.days_of_history::integer AS days_of_history,
    forecast.reaches_85_percent_at AS full_at,
    CASE
        WHEN plan_broker.broker IS NULL THEN forecast.reaches_85_percent_at
        WHEN free_space.bytes <= 0 THEN forecast.time
        WHEN free_space.bytes < forecast.growth_bytes_per_day * 36500
            THEN forecast.time + free_space.bytes / forecast.growth_bytes_per_day * interval '1 day'
    END AS full_at_with_plan
FROM store.run
JOIN store.newest_snapshot AS newest ON newest.snapshot_key = run.snapshot_key
JOIN advisor.broker_disk_forecast AS forecast ON forecast.cluster = run.cluster
LEFT JOIN store.plan_broker
    ON plan_broker.run_key = run.run_key AND plan_broker.time = run.time
    AND plan_broker.broker = forecast.broker AND plan_broker.resource = 'disk'
CROSS JOIN LATERAL (
    SELECT
        0.85 * forecast.total_bytes - forecast.used_bytes
        - coalesce(plan_broker.after - plan_broker.before, 0) AS bytes
) AS free_space
WHERE run.run_id = %(run_id)s
ORDER BY forecast.broker
