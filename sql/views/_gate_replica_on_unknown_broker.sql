-- Internal: a rule of the input gate.
CREATE OR REPLACE VIEW store.gate_replica_on_unknown_broker AS
SELECT
    snapshot.snapshot_id,
    placed.topic,
    placed.partition,
    replica.broker
FROM store.snapshot
JOIN store.partition AS placed ON placed.snapshot_key = snapshot.snapshot_key AND placed.captured_at = snapshot.captured_at
CROSS JOIN LATERAL unnest(placed.replicas) AS replica (broker)
WHERE NOT EXISTS (
    SELECT
    FROM store.broker
    WHERE broker.snapshot_key = placed.snapshot_key AND broker.captured_at = placed.captured_at AND broker.broker = replica.broker
);

COMMENT ON VIEW store.gate_replica_on_unknown_broker IS 'A broker without an answer is listed as dead; a replica on an unlisted broker is a reading error.';
