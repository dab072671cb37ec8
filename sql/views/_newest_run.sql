-- Internal, not part of the contract: the newest published run of each cluster, but none that began when Postgres' clock
-- was ahead.
CREATE OR REPLACE VIEW store.newest_run AS
SELECT DISTINCT ON (cluster)
    cluster,
    run_key,
    run_id,
    snapshot_key,
    time
FROM store.run
WHERE status = 'published' AND time <= now() + interval '5 minutes'
ORDER BY cluster, time DESC, run_key DESC;
