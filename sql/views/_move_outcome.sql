-- Internal: the state of each published move in the newest snapshot of its cluster, compared with the replicas before.
-- The states are those of kafka_rebalance.plans.applied:
--   applied    replicas and leader are the move's, and were not before
--   placed     replicas are the move's, the leader is not elected yet
--   moving     is being reassigned to the replicas of the move
--   open       not started: replicas are as before, and the leader is not the move's
--   elsewhere  another tool moved or is moving it: replicas are neither as before nor the move's
--   gone       the partition no longer exists
-- A view that reads one plan filters by age, the place of its run from the newest (1) back: then only its moves are looked up.
-- A join with newest_run would not do: Postgres applies it after the moves of all kept plans were looked up.
-- LIMIT makes Postgres look up each partition alone: it underestimates joins of tables that are partitioned by week.
-- MATERIALIZED makes it find the newest snapshot of each cluster once, and not for every move (5 ms each).
CREATE OR REPLACE VIEW store.move_outcome AS
WITH newest AS MATERIALIZED (
    SELECT cluster, snapshot_key, captured_at FROM store.newest_snapshot
)
SELECT
    run.run_key,
    run.cluster,
    move.topic,
    move.partition,
    move.wave,
    now_placed.replicas AS replicas_now,
    CASE
        WHEN now_placed.replicas IS NULL THEN 'gone'
        WHEN now_placed.heading_to = move.to_replicas THEN 'moving'
        WHEN now_placed.heading_to IS NOT NULL THEN 'elsewhere'
        WHEN now_placed.replicas = move.to_replicas AND now_placed.leader = move.leader_to THEN 'applied'
        WHEN now_placed.replicas = move.from_replicas THEN 'open'
        WHEN now_placed.replicas = move.to_replicas THEN 'placed'
        ELSE 'elsewhere'
    END AS state,
    run.run_id,
    run.started_at,
    run.age
FROM store.published_run AS run
JOIN store.move ON move.run_key = run.run_key AND move.started_at = run.started_at
JOIN newest ON newest.cluster = run.cluster
LEFT JOIN LATERAL (
    SELECT
        placed.replicas,
        placed.leader,
        -- During a reassignment (else NULL) Kafka lists the target replicas first, then the replicas to remove.
        CASE WHEN cardinality(placed.adding) > 0 OR cardinality(placed.removing) > 0 THEN ARRAY(
            SELECT replica.broker
            FROM unnest(placed.replicas) WITH ORDINALITY AS replica (broker, place)
            WHERE replica.broker <> ALL (coalesce(placed.removing, '{}'))
            ORDER BY replica.place
        ) END AS heading_to
    FROM store.partition AS placed
    WHERE placed.snapshot_key = newest.snapshot_key AND placed.captured_at = newest.captured_at
        AND placed.topic = move.topic AND placed.partition = move.partition
    LIMIT 1
) AS now_placed ON true;
