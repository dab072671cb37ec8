-- A reading ahead of Postgres' clock, at saving or now: it would be the newest until then, and have no age.
SELECT snapshot.cluster, snapshot.time::text AS time, snapshot.stored_at::text AS stored_at
FROM {batch} AS snapshot
WHERE snapshot.time > least(snapshot.stored_at, now()) + interval '5 minutes'
