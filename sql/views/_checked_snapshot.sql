-- Internal: the subject of the input gate's rules.
CREATE OR REPLACE VIEW store.checked_snapshot AS
SELECT
    snapshot_id,
    cluster,
    captured_at::text AS captured_at,
    stored_at::text AS stored_at,
    extract(EPOCH FROM captured_at - least(stored_at, now()))::double precision AS seconds_ahead_of_clock
FROM store.snapshot;

COMMENT ON VIEW store.checked_snapshot IS 'Snapshots in any status; one row a snapshot.';
COMMENT ON COLUMN store.checked_snapshot.seconds_ahead_of_clock IS 'Time of the snapshot after the clock of Postgres, at saving or now: such a snapshot would be the newest until then.';
