-- Internal: a rule of the result gate.
CREATE OR REPLACE VIEW store.gate_move_to_unfit_broker AS
SELECT
    run.run_id,
    move.topic,
    move.partition,
    move.to_replicas::text AS to_replicas,
    move.leader_to
FROM store.checked_run AS run
JOIN store.move ON move.run_key = run.run_key AND move.started_at = run.started_at
WHERE move.leader_to <> ALL (move.to_replicas)
    OR cardinality(move.to_replicas) > (SELECT count(DISTINCT replica.broker) FROM unnest(move.to_replicas) AS replica (broker))
    OR EXISTS (
        SELECT
        FROM unnest(move.to_replicas) AS replica (broker)
        LEFT JOIN store.broker
            ON broker.snapshot_key = run.snapshot_key AND broker.captured_at = run.snapshot_captured_at
            AND broker.broker = replica.broker
        WHERE replica.broker <> ALL (move.from_replicas)
            AND broker.state IS DISTINCT FROM 'alive'
            AND broker.state IS DISTINCT FROM 'new'
            AND broker.state IS DISTINCT FROM 'demoted'
            AND (
                broker.broker IS NOT NULL
                OR NOT EXISTS (
                    SELECT
                    FROM store.plan_broker AS planned
                    WHERE planned.run_key = run.run_key AND planned.started_at = run.started_at AND planned.broker = replica.broker
                )
            )
    );

COMMENT ON VIEW store.gate_move_to_unfit_broker IS 'A new replica goes to a broker that remains or that the plan adds; no broker twice; the leader is one of the replicas.';
