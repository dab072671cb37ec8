-- Internal, not part of the contract: the newest snapshot of each cluster that the input gate let pass. One that passed
-- while Postgres' clock was ahead would be the newest for good.
CREATE OR REPLACE VIEW store.newest_snapshot AS
SELECT DISTINCT ON (cluster)
    cluster,
    snapshot_key,
    snapshot_id,
    time
FROM store.snapshot
WHERE status = 'passed' AND NOT is_pruned AND time <= least(stored_at, now()) + interval '5 minutes'
ORDER BY cluster, time DESC, snapshot_key DESC;
