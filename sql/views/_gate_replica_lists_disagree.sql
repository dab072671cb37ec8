-- Internal: a rule of the input gate.
CREATE OR REPLACE VIEW store.gate_replica_lists_disagree AS
SELECT
    snapshot.snapshot_id,
    placed.topic,
    placed.partition,
    placed.replicas::text AS replicas,
    placed.leader,
    placed.isr::text AS isr,
    placed.log_bytes::text AS log_bytes
FROM store.snapshot
JOIN store.partition AS placed ON placed.snapshot_key = snapshot.snapshot_key AND placed.captured_at = snapshot.captured_at
WHERE (placed.leader IS NOT NULL AND placed.leader <> ALL (placed.replicas))
    OR NOT placed.isr <@ placed.replicas
    OR NOT placed.adding <@ placed.replicas
    OR NOT placed.removing <@ placed.replicas
    OR cardinality(placed.log_bytes) <> cardinality(placed.replicas);

COMMENT ON VIEW store.gate_replica_lists_disagree IS 'Leader, ISR and running reassignments are parts of the replica list, and each replica has one size (or NULL).';
