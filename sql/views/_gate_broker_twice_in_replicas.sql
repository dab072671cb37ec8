-- Internal: a rule of the input gate.
CREATE OR REPLACE VIEW store.gate_broker_twice_in_replicas AS
SELECT
    snapshot.snapshot_id,
    placed.topic,
    placed.partition,
    placed.replicas::text AS replicas
FROM store.snapshot
JOIN store.partition AS placed ON placed.snapshot_key = snapshot.snapshot_key AND placed.captured_at = snapshot.captured_at
WHERE (
        cardinality(placed.replicas) = 0 AND (
            snapshot.broker_count > 0 OR NOT EXISTS (
                SELECT
                FROM store.coverage_gap AS gap
                WHERE gap.snapshot_key = snapshot.snapshot_key AND gap.subject_type = 'cluster'
                    AND gap.missing_code = 'lacks_placement'
            )
        )
    )
    OR cardinality(placed.replicas) > (SELECT count(DISTINCT replica.broker) FROM unnest(placed.replicas) AS replica (broker));

COMMENT ON VIEW store.gate_broker_twice_in_replicas IS 'A broker holds at most one replica of a partition, and each partition has at least one. A snapshot without brokers (a group table alone) has none, but only with a coverage gap that says so; a live snapshot never has this gap.';
