-- A reading from the future: a clock is wrong, and every age and rate with it.
SELECT snapshot.cluster, snapshot.time::text AS time, snapshot.stored_at::text AS stored_at
FROM {batch} AS snapshot
WHERE snapshot.time > snapshot.stored_at + interval '5 minutes'
