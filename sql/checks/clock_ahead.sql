-- A snapshot ahead of Postgres' clock, at saving or now, would be the newest until then, with a negative age.
SELECT snapshot.cluster, snapshot.captured_at::text AS captured_at, snapshot.stored_at::text AS stored_at
FROM {batch} AS snapshot
WHERE snapshot.captured_at > least(snapshot.stored_at, now()) + interval '5 minutes'
