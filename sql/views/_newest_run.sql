-- Internal, not part of the contract: the newest published run of each cluster.
CREATE OR REPLACE VIEW store.newest_run AS
SELECT DISTINCT ON (cluster)
    cluster,
    run_key,
    run_id,
    snapshot_key,
    time
FROM store.run
WHERE status = 'published'
ORDER BY cluster, time DESC, run_key DESC;
