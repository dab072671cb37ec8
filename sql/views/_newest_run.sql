-- Internal: the newest published run of each cluster. A run that started while Postgres' clock was ahead is left out.
CREATE OR REPLACE VIEW store.newest_run AS
SELECT DISTINCT ON (cluster)
    cluster,
    run_key,
    run_id,
    snapshot_key,
    started_at
FROM store.run
WHERE status = 'published' AND started_at <= now() + interval '5 minutes'
ORDER BY cluster, started_at DESC, run_key DESC;
