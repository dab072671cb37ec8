-- Question 2 of docs/sql-and-grafana.md: which brokers reach 85 % disk and when, with and without the plan.
-- Growth is a straight line through the last snapshot of each of the last 14 days; a plan that was carried out moved bytes, so
-- snapshots before its end are left out. Log dirs of one broker with equal total
-- and equal free bytes count as one volume. The plan changes the level, not the growth.
-- If the newest snapshot has a given capacity, which outranks volume sizes as in plans and findings, the used bytes are those
-- of the replicas and stray logs; basis says which.
CREATE OR REPLACE VIEW advisor.broker_disk_forecast AS
WITH carried_out AS (
    SELECT run.cluster, max(application.verified_at) AS verified_at
    FROM store.application
    JOIN store.run ON run.run_key = application.run_key
    WHERE application.state <> 'not_applied'
    GROUP BY run.cluster
),
reading AS MATERIALIZED (
    SELECT daily.cluster, daily.snapshot_key, daily.captured_at, daily.snapshot_key = newest.snapshot_key AS is_newest
    FROM store.daily_snapshot AS daily
    JOIN store.newest_snapshot AS newest ON newest.cluster = daily.cluster AND daily.captured_at > newest.captured_at - interval '14 days'
    LEFT JOIN carried_out ON carried_out.cluster = daily.cluster
    WHERE daily.snapshot_key = newest.snapshot_key OR daily.captured_at > coalesce(carried_out.verified_at, '-infinity')
),
volume AS (
    SELECT DISTINCT
        reading.cluster, reading.captured_at, reading.is_newest, log_dir.broker, log_dir.total_bytes, log_dir.usable_bytes
    FROM reading
    JOIN store.log_dir ON log_dir.snapshot_key = reading.snapshot_key AND log_dir.captured_at = reading.captured_at
    WHERE log_dir.total_bytes > 0 AND log_dir.usable_bytes IS NOT NULL
),
stray AS (
    SELECT reading.snapshot_key, log_dir.broker, sum(log_dir.stray_bytes)::double precision AS bytes
    FROM reading
    JOIN store.log_dir ON log_dir.snapshot_key = reading.snapshot_key AND log_dir.captured_at = reading.captured_at
    WHERE log_dir.stray_bytes > 0
    GROUP BY reading.snapshot_key, log_dir.broker
),
used AS (
    SELECT
        cluster, captured_at, is_newest, broker, 'volumes' AS basis, false AS is_given,
        sum(total_bytes - usable_bytes)::double precision AS used_bytes,
        sum(total_bytes)::double precision AS total_bytes
    FROM volume
    GROUP BY cluster, captured_at, is_newest, broker
    UNION ALL
    SELECT
        reading.cluster, reading.captured_at, reading.is_newest, held.broker, 'replicas' AS basis,
        broker.capacity_disk_bytes IS NOT NULL AND held.load IS NOT NULL AS is_given,
        held.load + coalesce(stray.bytes, 0) AS used_bytes,
        coalesce(broker.capacity_disk_bytes, held.capacity) AS total_bytes
    FROM reading
    JOIN store.broker_level AS held
        ON held.snapshot_key = reading.snapshot_key AND held.captured_at = reading.captured_at AND held.resource = 'disk'
    JOIN store.broker
        ON broker.snapshot_key = reading.snapshot_key AND broker.captured_at = reading.captured_at AND broker.broker = held.broker
    LEFT JOIN stray ON stray.snapshot_key = reading.snapshot_key AND stray.broker = held.broker
    WHERE coalesce(broker.capacity_disk_bytes, held.capacity) > 0
),
trend AS (
    SELECT
        cluster, broker, basis, count(*) AS days,
        regr_slope(used_bytes, extract(epoch FROM captured_at) / 86400) AS bytes_per_day
    FROM used
    GROUP BY cluster, broker, basis
),
now_used AS (
    SELECT DISTINCT ON (cluster, broker) cluster, broker, basis, used_bytes, total_bytes
    FROM used
    WHERE is_newest
    ORDER BY cluster, broker, is_given DESC, basis DESC  -- else volumes before replicas
)
SELECT
    newest.captured_at,
    now_used.cluster,
    now_used.broker,
    broker.rack,
    now_used.used_bytes,
    now_used.total_bytes,
    now_used.used_bytes / nullif(now_used.total_bytes, 0) AS used_ratio,
    trend.bytes_per_day AS growth_bytes_per_day,
    trend.days AS days_of_history,
    CASE
        WHEN free_space.bytes <= 0 THEN newest.captured_at
        WHEN free_space.bytes < trend.bytes_per_day * 36500 THEN newest.captured_at + free_space.bytes / trend.bytes_per_day * interval '1 day'
    END AS reaches_85_percent_at,
    now_used.used_bytes + shift.bytes AS used_bytes_with_plan,
    CASE
        WHEN free_space.bytes_with_plan <= 0 THEN newest.captured_at
        WHEN free_space.bytes_with_plan < trend.bytes_per_day * 36500 THEN newest.captured_at + free_space.bytes_with_plan / trend.bytes_per_day * interval '1 day'
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
    ON broker.snapshot_key = newest.snapshot_key AND broker.captured_at = newest.captured_at AND broker.broker = now_used.broker
LEFT JOIN LATERAL (
    SELECT plan_broker.load_after - plan_broker.load_before AS bytes
    FROM store.newest_run AS newest_run
    JOIN store.plan_broker
        ON plan_broker.run_key = newest_run.run_key AND plan_broker.started_at = newest_run.started_at
    WHERE newest_run.cluster = newest.cluster AND plan_broker.broker = now_used.broker AND plan_broker.resource = 'disk'
) AS shift ON true
CROSS JOIN LATERAL (
    SELECT
        0.85 * now_used.total_bytes - now_used.used_bytes AS bytes,
        0.85 * now_used.total_bytes - now_used.used_bytes - shift.bytes AS bytes_with_plan
) AS free_space;

COMMENT ON VIEW advisor.broker_disk_forecast IS 'Time at which each broker reaches 85 % of its disk, without and with the newest plan.';
COMMENT ON COLUMN advisor.broker_disk_forecast.captured_at IS 'Time of the newest snapshot.';
COMMENT ON COLUMN advisor.broker_disk_forecast.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.broker_disk_forecast.broker IS 'Broker id.';
COMMENT ON COLUMN advisor.broker_disk_forecast.rack IS 'Rack.';
COMMENT ON COLUMN advisor.broker_disk_forecast.used_bytes IS 'Used bytes on its volumes, by all programs; in a given capacity those of replicas and stray logs.';
COMMENT ON COLUMN advisor.broker_disk_forecast.total_bytes IS 'Given capacity, else size of its volumes.';
COMMENT ON COLUMN advisor.broker_disk_forecast.used_ratio IS 'used_bytes / total_bytes.';
COMMENT ON COLUMN advisor.broker_disk_forecast.growth_bytes_per_day IS 'Slope of a straight line over the last 14 days, from the last executed plan on; NULL with fewer than two days.';
COMMENT ON COLUMN advisor.broker_disk_forecast.days_of_history IS 'Days behind that line.';
COMMENT ON COLUMN advisor.broker_disk_forecast.reaches_85_percent_at IS 'Time without the plan. It is the time of the snapshot if 85 % are reached already, and NULL if they are not reached within 100 years or if the growth is unknown.';
COMMENT ON COLUMN advisor.broker_disk_forecast.used_bytes_with_plan IS 'Bytes used after the newest plan; NULL where it does not balance disk.';
COMMENT ON COLUMN advisor.broker_disk_forecast.reaches_85_percent_at_with_plan IS 'The same with the newest plan.';
COMMENT ON COLUMN advisor.broker_disk_forecast.basis IS 'volumes (sizes read from the brokers) or replicas (replica sizes against the given capacity).';
COMMENT ON COLUMN advisor.broker_disk_forecast.outlook IS 'full (85 % is reached), filling, not_growing, or unknown (fewer than two days of snapshots).';
