-- Roll-ups of skew and lag. Each query begins with its name and its purpose.

-- name: lock_roll_ups
-- One writer of the roll-ups of a cluster at a time: two writers that each see half of an hour's snapshots would lose one.
SELECT snapshot.cluster, snapshot.captured_at
FROM store.snapshot
CROSS JOIN LATERAL (SELECT pg_advisory_xact_lock(hashtext('roll_up'), hashtext(snapshot.cluster))) AS locked
WHERE snapshot.snapshot_id = %(snapshot_id)s

-- name: roll_up_skew_hour
-- The hour of a snapshot, from all snapshots of that hour. If some were pruned since, the row stays as it is.
INSERT INTO store.skew_hour AS kept (
    cluster, period_start, resource, unit, snapshot_count, total, skew, highest_skew, worst_broker
)
SELECT
    snapshot.cluster, date_trunc('hour', %(captured_at)s::timestamptz, 'UTC'), read.resource, min(read.unit), count(*),
    avg(read.total), avg(read.skew), max(read.skew), (array_agg(read.worst_broker ORDER BY read.skew DESC))[1]
FROM store.snapshot
JOIN store.resource_skew AS read ON read.snapshot_key = snapshot.snapshot_key AND read.captured_at = snapshot.captured_at
WHERE snapshot.cluster = %(cluster)s AND snapshot.status = 'passed' AND NOT snapshot.is_pruned
    AND snapshot.captured_at >= date_trunc('hour', %(captured_at)s::timestamptz, 'UTC')
    AND snapshot.captured_at < date_trunc('hour', %(captured_at)s::timestamptz, 'UTC') + interval '1 hour'
GROUP BY snapshot.cluster, read.resource
ON CONFLICT (cluster, period_start, resource) DO UPDATE
SET unit = excluded.unit, snapshot_count = excluded.snapshot_count, total = excluded.total, skew = excluded.skew,
    highest_skew = excluded.highest_skew, worst_broker = excluded.worst_broker
WHERE excluded.snapshot_count >= kept.snapshot_count

-- name: roll_up_skew_day
-- The same for the day (UTC).
INSERT INTO store.skew_day AS kept (
    cluster, period_start, resource, unit, snapshot_count, total, skew, highest_skew, worst_broker
)
SELECT
    snapshot.cluster, date_trunc('day', %(captured_at)s::timestamptz, 'UTC'), read.resource, min(read.unit), count(*),
    avg(read.total), avg(read.skew), max(read.skew), (array_agg(read.worst_broker ORDER BY read.skew DESC))[1]
FROM store.snapshot
JOIN store.resource_skew AS read ON read.snapshot_key = snapshot.snapshot_key AND read.captured_at = snapshot.captured_at
WHERE snapshot.cluster = %(cluster)s AND snapshot.status = 'passed' AND NOT snapshot.is_pruned
    AND snapshot.captured_at >= date_trunc('day', %(captured_at)s::timestamptz, 'UTC')
    AND snapshot.captured_at < date_trunc('day', %(captured_at)s::timestamptz, 'UTC') + interval '1 day'
GROUP BY snapshot.cluster, read.resource
ON CONFLICT (cluster, period_start, resource) DO UPDATE
SET unit = excluded.unit, snapshot_count = excluded.snapshot_count, total = excluded.total, skew = excluded.skew,
    highest_skew = excluded.highest_skew, worst_broker = excluded.worst_broker
WHERE excluded.snapshot_count >= kept.snapshot_count

-- name: roll_up_broker_day
-- The day of each broker.
INSERT INTO store.broker_day AS kept (
    cluster, period_start, broker, resource, unit, snapshot_count, load, level, level_to_mean_ratio, highest_level_to_mean_ratio
)
SELECT
    snapshot.cluster, date_trunc('day', %(captured_at)s::timestamptz, 'UTC'), read.broker, read.resource, min(read.unit),
    count(*), avg(read.load), avg(read.level), avg(read.level_to_mean_ratio), max(read.level_to_mean_ratio)
FROM store.snapshot
JOIN store.broker_level AS read ON read.snapshot_key = snapshot.snapshot_key AND read.captured_at = snapshot.captured_at
WHERE snapshot.cluster = %(cluster)s AND snapshot.status = 'passed' AND NOT snapshot.is_pruned
    AND snapshot.captured_at >= date_trunc('day', %(captured_at)s::timestamptz, 'UTC')
    AND snapshot.captured_at < date_trunc('day', %(captured_at)s::timestamptz, 'UTC') + interval '1 day'
GROUP BY snapshot.cluster, read.broker, read.resource
ON CONFLICT (cluster, period_start, broker, resource) DO UPDATE
SET unit = excluded.unit, snapshot_count = excluded.snapshot_count, load = excluded.load, level = excluded.level,
    level_to_mean_ratio = excluded.level_to_mean_ratio, highest_level_to_mean_ratio = excluded.highest_level_to_mean_ratio
WHERE excluded.snapshot_count >= kept.snapshot_count

-- name: roll_up_lag_hour
-- The hour of each group.
INSERT INTO store.lag_hour AS kept (cluster, period_start, group_id, snapshot_count, lag_messages, highest_lag_messages)
SELECT
    snapshot.cluster, date_trunc('hour', %(captured_at)s::timestamptz, 'UTC'), read.group_id, count(*),
    avg(read.lag_messages), max(read.lag_messages)
FROM store.snapshot
JOIN store.group_lag AS read ON read.snapshot_key = snapshot.snapshot_key AND read.captured_at = snapshot.captured_at
WHERE snapshot.cluster = %(cluster)s AND snapshot.status = 'passed' AND NOT snapshot.is_pruned
    AND snapshot.captured_at >= date_trunc('hour', %(captured_at)s::timestamptz, 'UTC')
    AND snapshot.captured_at < date_trunc('hour', %(captured_at)s::timestamptz, 'UTC') + interval '1 hour'
GROUP BY snapshot.cluster, read.group_id
ON CONFLICT (cluster, period_start, group_id) DO UPDATE
SET snapshot_count = excluded.snapshot_count, lag_messages = excluded.lag_messages,
    highest_lag_messages = excluded.highest_lag_messages
WHERE excluded.snapshot_count >= kept.snapshot_count

-- name: roll_up_lag_day
-- The same for the day (UTC).
INSERT INTO store.lag_day AS kept (cluster, period_start, group_id, snapshot_count, lag_messages, highest_lag_messages)
SELECT
    snapshot.cluster, date_trunc('day', %(captured_at)s::timestamptz, 'UTC'), read.group_id, count(*),
    avg(read.lag_messages), max(read.lag_messages)
FROM store.snapshot
JOIN store.group_lag AS read ON read.snapshot_key = snapshot.snapshot_key AND read.captured_at = snapshot.captured_at
WHERE snapshot.cluster = %(cluster)s AND snapshot.status = 'passed' AND NOT snapshot.is_pruned
    AND snapshot.captured_at >= date_trunc('day', %(captured_at)s::timestamptz, 'UTC')
    AND snapshot.captured_at < date_trunc('day', %(captured_at)s::timestamptz, 'UTC') + interval '1 day'
GROUP BY snapshot.cluster, read.group_id
ON CONFLICT (cluster, period_start, group_id) DO UPDATE
SET snapshot_count = excluded.snapshot_count, lag_messages = excluded.lag_messages,
    highest_lag_messages = excluded.highest_lag_messages
WHERE excluded.snapshot_count >= kept.snapshot_count
