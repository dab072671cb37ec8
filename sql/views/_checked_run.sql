-- Internal: the subject of the result gate's rules.
CREATE OR REPLACE VIEW store.checked_run AS
SELECT
    run.run_id,
    run.run_key,
    run.started_at,
    run.snapshot_key,
    snapshot.captured_at AS snapshot_captured_at
FROM store.run
JOIN store.snapshot ON snapshot.snapshot_key = run.snapshot_key;

COMMENT ON VIEW store.checked_run IS 'Runs in any status, with the time of their snapshot; one row a run.';
