-- Question 2 of DESIGN §4: which brokers reach 85 % disk and when, with and without the plan.
-- Growth is a straight line through the last reading of each of the last 14 days. Directories of one broker with equal
-- totals and equal free bytes are taken for one volume. The plan shifts the level, not the growth.
-- Where the newest reading knows no volumes, but somebody wrote down how large the disk is (Kafka before 3.3, or no right
-- to ask), what its replicas hold is taken for what is used: basis says which.
CREATE OR REPLACE VIEW advisor.broker_disk_forecast AS
WITH reading AS MATERIALIZED (
    SELECT daily.cluster, daily.snapshot_key, daily.time, daily.snapshot_key = newest.snapshot_key AS is_newest
    FROM store.daily_snapshot AS daily
    JOIN store.newest_snapshot AS newest ON newest.cluster = daily.cluster AND daily.time > newest.time - interval '14 days'
),
volume AS (
    SELECT DISTINCT
        reading.cluster, reading.time, reading.is_newest, log_dir.broker, log_dir.total_bytes, log_dir.usable_bytes
    FROM reading
    JOIN store.log_dir ON log_dir.snapshot_key = reading.snapshot_key AND log_dir.time = reading.time
    WHERE log_dir.total_bytes IS NOT NULL AND log_dir.usable_bytes IS NOT NULL
),
used AS (
    SELECT
        cluster, time, is_newest, broker, 'volumes' AS basis,
        sum(total_bytes - usable_bytes)::double precision AS used_bytes,
        sum(total_bytes)::double precision AS total_bytes
    FROM volume
    GROUP BY cluster, time, is_newest, broker
    UNION ALL
    SELECT
        reading.cluster, reading.time, reading.is_newest, held.broker, 'replicas' AS basis,
        held.load AS used_bytes,
        held.capacity AS total_bytes
    FROM reading
    JOIN store.broker_level AS held
        ON held.snapshot_key = reading.snapshot_key AND held.time = reading.time AND held.resource = 'disk'
    WHERE held.capacity IS NOT NULL
),
trend AS (
    SELECT
        cluster, broker, basis, count(*) AS days,
        regr_slope(used_bytes, extract(epoch FROM time) / 86400) AS bytes_per_day
    FROM used
    GROUP BY cluster, broker, basis
),
now_used AS (
    SELECT DISTINCT ON (cluster, broker) cluster, broker, basis, used_bytes, total_bytes
    FROM used
    WHERE is_newest
    ORDER BY cluster, broker, basis DESC  -- volumes before replicas
)
SELECT
    newest.time,
    now_used.cluster,
    now_used.broker,
    broker.rack,
    now_used.used_bytes,
    now_used.total_bytes,
    now_used.used_bytes / nullif(now_used.total_bytes, 0) AS used_ratio,
    trend.bytes_per_day AS growth_bytes_per_day,
    trend.days AS days_of_history,
    CASE
        WHEN free_space.bytes <= 0 THEN newest.time
        WHEN free_space.bytes < trend.bytes_per_day * 36500 THEN newest.time + free_space.bytes / trend.bytes_per_day * interval '1 day'
    END AS reaches_85_percent_at,
    now_used.used_bytes + shift.bytes AS used_bytes_with_plan,
    CASE
        WHEN free_space.bytes_with_plan <= 0 THEN newest.time
        WHEN free_space.bytes_with_plan < trend.bytes_per_day * 36500 THEN newest.time + free_space.bytes_with_plan / trend.bytes_per_day * interval '1 day'
    END AS reaches_85_percent_at_with_plan,
    now_used.basis,
    CASE
        WHEN free_space.bytes <= 0 THEN 'full'
        WHEN trend.bytes_per_day IS NULL THEN 'unknown'
        WHEN free_space.bytes < trend.bytes_per_day * 36500 THEN 'filling'
        ELSE 'not_growing'
    END AS outlook
FROM store.newest_snapshot AS newest
JOIN now_used ON now_used.cluster = newest.cluster
JOIN trend ON trend.cluster = now_used.cluster AND trend.broker = now_used.broker AND trend.basis = now_used.basis
JOIN store.broker
    ON broker.snapshot_key = newest.snapshot_key AND broker.time = newest.time AND broker.broker = now_used.broker
LEFT JOIN LATERAL (
    SELECT plan_broker.after - plan_broker.before AS bytes
    FROM store.newest_run AS newest_run
    JOIN store.plan_broker
        ON plan_broker.run_key = newest_run.run_key AND plan_broker.time = newest_run.time
    WHERE newest_run.cluster = newest.cluster AND plan_broker.broker = now_used.broker AND plan_broker.resource = 'disk'
) AS shift ON true
CROSS JOIN LATERAL (
    SELECT
        0.85 * now_used.total_bytes - now_used.used_bytes AS bytes,
        0.85 * now_used.total_bytes - now_used.used_bytes - shift.bytes AS bytes_with_plan
) AS free_space;
