-- A copy is read from the leader before the move; a move with several new replicas copies as much to each.
CREATE OR REPLACE VIEW advisor.wave_broker AS
SELECT
    run.started_at,
    run.cluster,
    run.run_id,
    move.wave,
    copy.broker,
    sum(copy.received_bytes) AS received_bytes,
    sum(copy.sent_bytes) AS sent_bytes,
    count(*) FILTER (WHERE move.bytes IS NULL) AS unsized_move_count
FROM store.run
JOIN store.move
    ON move.run_key = run.run_key AND move.started_at = run.started_at
CROSS JOIN LATERAL (
    SELECT array_agg(broker) AS brokers
    FROM unnest(move.to_replicas) AS broker
    WHERE broker <> ALL (move.from_replicas)
) AS added
CROSS JOIN LATERAL (
    SELECT
        unnest(added.brokers) AS broker,
        move.bytes::double precision / cardinality(added.brokers) AS received_bytes,
        NULL::double precision AS sent_bytes
    UNION ALL
    SELECT move.leader_from, NULL, move.bytes WHERE move.leader_from IS NOT NULL
) AS copy
WHERE run.status = 'published' AND added.brokers IS NOT NULL
GROUP BY run.started_at, run.cluster, run.run_id, move.wave, copy.broker;

COMMENT ON VIEW advisor.wave_broker IS 'Bytes that each broker receives and sends in each wave of every published plan; brokers that copy nothing have no row.';
COMMENT ON COLUMN advisor.wave_broker.started_at IS 'Start of the advisory.';
COMMENT ON COLUMN advisor.wave_broker.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.wave_broker.run_id IS 'Id of the advisory.';
COMMENT ON COLUMN advisor.wave_broker.wave IS 'Wave, from 1.';
COMMENT ON COLUMN advisor.wave_broker.broker IS 'Broker id.';
COMMENT ON COLUMN advisor.wave_broker.received_bytes IS 'Bytes that it receives, in moves of known size; NULL: none.';
COMMENT ON COLUMN advisor.wave_broker.sent_bytes IS 'Bytes that it sends as leader, in moves of known size; NULL: none.';
COMMENT ON COLUMN advisor.wave_broker.unsized_move_count IS 'Moves of unknown size, in neither of both.';
