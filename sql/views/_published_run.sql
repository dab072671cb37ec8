-- Internal: published runs of each cluster, numbered from the newest (1) back.
CREATE OR REPLACE VIEW store.published_run AS
SELECT
    cluster,
    run_key,
    run_id,
    snapshot_key,
    started_at,
    row_number() OVER (PARTITION BY cluster ORDER BY started_at DESC, run_key DESC) AS age
FROM store.run
WHERE status = 'published' AND started_at <= now() + interval '5 minutes';
