-- Internal: a rule of the result gate.
CREATE OR REPLACE VIEW store.gate_move_disagrees_with_snapshot AS
SELECT
    run.run_id,
    move.topic,
    move.partition,
    move.from_replicas::text AS from_replicas,
    placed.replicas::text AS replicas,
    move.leader_from,
    placed.leader
FROM store.checked_run AS run
JOIN store.move ON move.run_key = run.run_key AND move.started_at = run.started_at
LEFT JOIN store.partition AS placed
    ON placed.snapshot_key = run.snapshot_key AND placed.captured_at = run.snapshot_captured_at
    AND placed.topic = move.topic AND placed.partition = move.partition
WHERE placed.replicas IS DISTINCT FROM move.from_replicas
    OR placed.leader IS DISTINCT FROM move.leader_from
    OR EXISTS (
        SELECT
        FROM store.move AS other
        WHERE other.run_key = move.run_key AND other.started_at = move.started_at
            AND other.topic = move.topic AND other.partition = move.partition AND other.position <> move.position
    );

COMMENT ON VIEW store.gate_move_disagrees_with_snapshot IS 'A move starts from the replicas in the snapshot, and each partition moves once.';
