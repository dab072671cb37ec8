CREATE OR REPLACE VIEW advisor.load_source AS
SELECT
    snapshot.time,
    snapshot.cluster,
    snapshot.snapshot_id,
    each.kind,
    each.source,
    each.window_s,
    each.known_share
FROM store.snapshot
JOIN store.load_source AS each
    ON each.snapshot_key = snapshot.snapshot_key
WHERE snapshot.status = 'passed';
