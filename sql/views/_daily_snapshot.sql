-- Internal: the last passed snapshot of each cluster and day (UTC), for trends. Snapshots from a clock that was ahead are
-- left out, as in newest_snapshot.
CREATE OR REPLACE VIEW store.daily_snapshot AS
SELECT DISTINCT ON (cluster, date_trunc('day', captured_at AT TIME ZONE 'UTC'))
    cluster,
    snapshot_key,
    captured_at
FROM store.snapshot
WHERE status = 'passed' AND NOT is_pruned AND captured_at <= least(stored_at, now()) + interval '5 minutes'
ORDER BY cluster, date_trunc('day', captured_at AT TIME ZONE 'UTC'), captured_at DESC, snapshot_key DESC;
