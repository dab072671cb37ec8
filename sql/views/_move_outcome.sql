-- Internal, not part of the contract: what the newest reading of its cluster shows of each published move, compared with
-- what was there before. One state each, as kafka_rebalance.plans.applied defines them:
--   applied    replicas and leader are the move's, and were not before
--   placed     replicas are the move's, the leader is not elected yet
--   moving     is being reassigned, to where the move sends it
--   open       nothing has happened: replicas are as before (and the leader is not the move's)
--   elsewhere  somebody else moved it, or is moving it: neither as before nor as the move has it
--   gone       there is no such partition any more
-- Each partition is looked up by itself (LIMIT keeps it so): joins of tables by week are planned too small.
-- The newest reading of each cluster is found once: else it was looked for again for every move, 5 ms each.
CREATE OR REPLACE VIEW store.move_outcome AS
WITH newest AS MATERIALIZED (
    SELECT cluster, snapshot_key, time FROM store.newest_snapshot
)
SELECT
    run.run_key,
    run.cluster,
    move.topic,
    move.partition,
    now_placed.replicas AS replicas_now,
    CASE
        WHEN now_placed.replicas IS NULL THEN 'gone'
        WHEN now_placed.heading_to = move.to_replicas THEN 'moving'
        WHEN now_placed.heading_to IS NOT NULL THEN 'elsewhere'
        WHEN now_placed.replicas = move.to_replicas AND now_placed.leader = move.leader_to THEN 'applied'
        WHEN now_placed.replicas = move.from_replicas THEN 'open'
        WHEN now_placed.replicas = move.to_replicas THEN 'placed'
        ELSE 'elsewhere'
    END AS state
FROM store.run
JOIN store.move ON move.run_key = run.run_key AND move.time = run.time
JOIN newest ON newest.cluster = run.cluster
LEFT JOIN LATERAL (
    SELECT
        placed.replicas,
        placed.leader,
        -- While it moves (else NULL), Kafka shows the target first, then what is to go.
        CASE WHEN cardinality(placed.adding) > 0 OR cardinality(placed.removing) > 0 THEN ARRAY(
            SELECT replica.broker
            FROM unnest(placed.replicas) WITH ORDINALITY AS replica (broker, place)
            WHERE replica.broker <> ALL (coalesce(placed.removing, '{}'))
            ORDER BY replica.place
        ) END AS heading_to
    FROM store.partition AS placed
    WHERE placed.snapshot_key = newest.snapshot_key AND placed.time = newest.time
        AND placed.topic = move.topic AND placed.partition = move.partition
    LIMIT 1
) AS now_placed ON true
WHERE run.status = 'published';
