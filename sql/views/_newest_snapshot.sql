-- Internal: the newest snapshot of each cluster that passed the input gate. Without the limit a snapshot that was stored
-- while Postgres' clock was ahead would be the newest for good.
CREATE OR REPLACE VIEW store.newest_snapshot AS
SELECT DISTINCT ON (cluster)
    cluster,
    snapshot_key,
    snapshot_id,
    captured_at
FROM store.snapshot
WHERE status = 'passed' AND NOT is_pruned AND captured_at <= least(stored_at, now()) + interval '5 minutes'
ORDER BY cluster, captured_at DESC, snapshot_key DESC;
