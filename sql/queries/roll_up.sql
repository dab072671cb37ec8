-- Queries of rebalance_advisor.store about levels of readings and their roll-ups. Each begins with its name and one line
-- that says what for.

-- name: lock_roll_ups
-- The roll-ups of one cluster are made by one at a time: two that each saw half of an hour's readings would lose one.
SELECT snapshot.cluster, snapshot.time
FROM store.snapshot
CROSS JOIN LATERAL (SELECT pg_advisory_xact_lock(hashtext('roll_up'), hashtext(snapshot.cluster))) AS locked
WHERE snapshot.snapshot_id = %(snapshot_id)s

-- name: roll_up_skew_hour
-- The hour of a reading from all readings of that hour; fewer than it rests on already (pruned since) change nothing.
INSERT INTO store.skew_hour AS kept (
    cluster, time, resource, unit, readings, total, skew, highest_skew, worst_broker
)
SELECT
    snapshot.cluster, date_trunc('hour', %(time)s::timestamptz, 'UTC'), read.resource, min(read.unit), count(*),
    avg(read.total), avg(read.skew), max(read.skew), (array_agg(read.worst_broker ORDER BY read.skew DESC))[1]
FROM store.snapshot
JOIN store.resource_skew AS read ON read.snapshot_key = snapshot.snapshot_key AND read.time = snapshot.time
WHERE snapshot.cluster = %(cluster)s AND snapshot.status = 'passed' AND NOT snapshot.is_pruned
    AND snapshot.time >= date_trunc('hour', %(time)s::timestamptz, 'UTC')
    AND snapshot.time < date_trunc('hour', %(time)s::timestamptz, 'UTC') + interval '1 hour'
GROUP BY snapshot.cluster, read.resource
ON CONFLICT (cluster, time, resource) DO UPDATE
SET unit = excluded.unit, readings = excluded.readings, total = excluded.total, skew = excluded.skew,
    highest_skew = excluded.highest_skew, worst_broker = excluded.worst_broker
WHERE excluded.readings >= kept.readings

-- name: roll_up_skew_day
-- The same for its day (UTC).
INSERT INTO store.skew_day AS kept (
    cluster, time, resource, unit, readings, total, skew, highest_skew, worst_broker
)
SELECT
    snapshot.cluster, date_trunc('day', %(time)s::timestamptz, 'UTC'), read.resource, min(read.unit), count(*),
    avg(read.total), avg(read.skew), max(read.skew), (array_agg(read.worst_broker ORDER BY read.skew DESC))[1]
FROM store.snapshot
JOIN store.resource_skew AS read ON read.snapshot_key = snapshot.snapshot_key AND read.time = snapshot.time
WHERE snapshot.cluster = %(cluster)s AND snapshot.status = 'passed' AND NOT snapshot.is_pruned
    AND snapshot.time >= date_trunc('day', %(time)s::timestamptz, 'UTC')
    AND snapshot.time < date_trunc('day', %(time)s::timestamptz, 'UTC') + interval '1 day'
GROUP BY snapshot.cluster, read.resource
ON CONFLICT (cluster, time, resource) DO UPDATE
SET unit = excluded.unit, readings = excluded.readings, total = excluded.total, skew = excluded.skew,
    highest_skew = excluded.highest_skew, worst_broker = excluded.worst_broker
WHERE excluded.readings >= kept.readings

-- name: roll_up_broker_day
-- The day of each broker.
INSERT INTO store.broker_day AS kept (
    cluster, time, broker, resource, unit, readings, load, level, over_mean, highest_over_mean
)
SELECT
    snapshot.cluster, date_trunc('day', %(time)s::timestamptz, 'UTC'), read.broker, read.resource, min(read.unit),
    count(*), avg(read.load), avg(read.level), avg(read.over_mean), max(read.over_mean)
FROM store.snapshot
JOIN store.broker_level AS read ON read.snapshot_key = snapshot.snapshot_key AND read.time = snapshot.time
WHERE snapshot.cluster = %(cluster)s AND snapshot.status = 'passed' AND NOT snapshot.is_pruned
    AND snapshot.time >= date_trunc('day', %(time)s::timestamptz, 'UTC')
    AND snapshot.time < date_trunc('day', %(time)s::timestamptz, 'UTC') + interval '1 day'
GROUP BY snapshot.cluster, read.broker, read.resource
ON CONFLICT (cluster, time, broker, resource) DO UPDATE
SET unit = excluded.unit, readings = excluded.readings, load = excluded.load, level = excluded.level,
    over_mean = excluded.over_mean, highest_over_mean = excluded.highest_over_mean
WHERE excluded.readings >= kept.readings

-- name: roll_up_lag_hour
-- The hour of each group.
INSERT INTO store.lag_hour AS kept (cluster, time, group_id, readings, lag_messages, highest_lag_messages)
SELECT
    snapshot.cluster, date_trunc('hour', %(time)s::timestamptz, 'UTC'), read.group_id, count(*),
    avg(read.lag_messages), max(read.lag_messages)
FROM store.snapshot
JOIN store.group_lag AS read ON read.snapshot_key = snapshot.snapshot_key AND read.time = snapshot.time
WHERE snapshot.cluster = %(cluster)s AND snapshot.status = 'passed' AND NOT snapshot.is_pruned
    AND snapshot.time >= date_trunc('hour', %(time)s::timestamptz, 'UTC')
    AND snapshot.time < date_trunc('hour', %(time)s::timestamptz, 'UTC') + interval '1 hour'
GROUP BY snapshot.cluster, read.group_id
ON CONFLICT (cluster, time, group_id) DO UPDATE
SET readings = excluded.readings, lag_messages = excluded.lag_messages,
    highest_lag_messages = excluded.highest_lag_messages
WHERE excluded.readings >= kept.readings

-- name: roll_up_lag_day
-- The same for its day (UTC).
INSERT INTO store.lag_day AS kept (cluster, time, group_id, readings, lag_messages, highest_lag_messages)
SELECT
    snapshot.cluster, date_trunc('day', %(time)s::timestamptz, 'UTC'), read.group_id, count(*),
    avg(read.lag_messages), max(read.lag_messages)
FROM store.snapshot
JOIN store.group_lag AS read ON read.snapshot_key = snapshot.snapshot_key AND read.time = snapshot.time
WHERE snapshot.cluster = %(cluster)s AND snapshot.status = 'passed' AND NOT snapshot.is_pruned
    AND snapshot.time >= date_trunc('day', %(time)s::timestamptz, 'UTC')
    AND snapshot.time < date_trunc('day', %(time)s::timestamptz, 'UTC') + interval '1 day'
GROUP BY snapshot.cluster, read.group_id
ON CONFLICT (cluster, time, group_id) DO UPDATE
SET readings = excluded.readings, lag_messages = excluded.lag_messages,
    highest_lag_messages = excluded.highest_lag_messages
WHERE excluded.readings >= kept.readings
