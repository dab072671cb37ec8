-- Internal: a rule of the result gate.
CREATE OR REPLACE VIEW store.gate_plan_does_not_add_up AS
SELECT
    run.run_id,
    summed.what,
    summed.reported::text AS reported,
    summed.found::text AS found
FROM store.checked_run AS run
JOIN store.plan ON plan.run_key = run.run_key
CROSS JOIN LATERAL (
    SELECT
        count(*) AS moves,
        CASE WHEN count(*) = count(move.bytes) THEN coalesce(sum(move.bytes), 0) END AS bytes,
        coalesce(sum((
            SELECT count(*) FROM unnest(move.to_replicas) AS new (broker) WHERE new.broker <> ALL (move.from_replicas)
        )), 0) AS replica_moves,
        count(*) FILTER (WHERE move.leader_from IS DISTINCT FROM move.leader_to) AS leader_changes,
        count(*) FILTER (WHERE wave.wave IS NULL) AS waveless
    FROM store.move
    LEFT JOIN store.wave
        ON wave.run_key = move.run_key AND wave.direction = 'forward' AND wave.wave = move.wave
    WHERE move.run_key = run.run_key AND move.started_at = run.started_at
) AS moved
CROSS JOIN LATERAL (
    SELECT coalesce(sum(wave.move_count), 0) AS moves
    FROM store.wave
    WHERE wave.run_key = run.run_key AND wave.direction = 'forward'
) AS waved
CROSS JOIN LATERAL (
    SELECT
        count(*) AS steps,
        CASE WHEN count(*) = count(plan_step.bytes) THEN sum(plan_step.bytes) END AS bytes,
        sum(plan_step.replica_moves) AS replica_moves,
        sum(plan_step.leader_changes) AS leader_changes,
        sum(plan_step.partitions) AS moves
    FROM store.plan_step
    WHERE plan_step.run_key = run.run_key
) AS stepped
CROSS JOIN LATERAL (
    VALUES
        ('bytes', plan.bytes, moved.bytes),
        ('replica_moves', plan.replica_moves, moved.replica_moves),
        ('leader_changes', plan.leader_changes, moved.leader_changes),
        ('moves in waves', waved.moves, moved.moves),
        ('moves without a wave', 0, moved.waveless),
        ('bytes of steps', plan.bytes, CASE WHEN stepped.steps = 0 THEN plan.bytes ELSE stepped.bytes END),
        (
            'replica_moves of steps', plan.replica_moves,
            CASE WHEN stepped.steps = 0 THEN plan.replica_moves ELSE stepped.replica_moves END
        ),
        (
            'leader_changes of steps', plan.leader_changes,
            CASE WHEN stepped.steps = 0 THEN plan.leader_changes ELSE stepped.leader_changes END
        ),
        ('moves in steps', CASE WHEN stepped.steps = 0 THEN NULL ELSE moved.moves END, stepped.moves),
        ('moves of a plan that does nothing', 0, CASE WHEN plan.verdict = 'rebalance' THEN 0 ELSE moved.moves END)
) AS summed (what, reported, found)
WHERE summed.reported IS DISTINCT FROM summed.found;

COMMENT ON VIEW store.gate_plan_does_not_add_up IS 'The plan''s cost is the sum of its moves (unknown where one is) and of its steps; each move is in one of its waves.';
