CREATE OR REPLACE VIEW advisor.load_source AS
SELECT
    snapshot.time,
    snapshot.cluster,
    snapshot.snapshot_id,
    load_source.kind,
    load_source.source,
    load_source.window_s,
    load_source.known_share
FROM store.snapshot
JOIN store.load_source
    ON load_source.snapshot_key = snapshot.snapshot_key
WHERE snapshot.status = 'passed';
