-- Internal, not part of the contract: for each cluster and day (UTC) the last reading that passed; trends need no more.
-- Without readings from a clock that was ahead, as in newest_snapshot.
CREATE OR REPLACE VIEW store.daily_snapshot AS
SELECT DISTINCT ON (cluster, date_trunc('day', time AT TIME ZONE 'UTC'))
    cluster,
    snapshot_key,
    time
FROM store.snapshot
WHERE status = 'passed' AND NOT is_pruned AND time <= least(stored_at, now()) + interval '5 minutes'
ORDER BY cluster, date_trunc('day', time AT TIME ZONE 'UTC'), time DESC, snapshot_key DESC;
