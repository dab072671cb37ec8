-- Internal: a rule of the input gate.
CREATE OR REPLACE VIEW store.gate_load_impossible AS
SELECT
    snapshot.snapshot_id,
    load.topic,
    load.partition,
    load.log_bytes,
    load.in_bytes_per_s,
    load.out_bytes_per_s,
    load.cpu_percent,
    load.in_messages_per_s
FROM store.snapshot
JOIN store.load ON load.snapshot_key = snapshot.snapshot_key AND load.captured_at = snapshot.captured_at
LEFT JOIN store.partition AS placed
    ON placed.snapshot_key = load.snapshot_key AND placed.captured_at = load.captured_at
    AND placed.topic = load.topic AND placed.partition = load.partition
WHERE placed.topic IS NULL
    OR least(load.log_bytes, load.in_bytes_per_s, load.out_bytes_per_s, load.cpu_percent, load.in_messages_per_s) < 0
    OR greatest(load.log_bytes, load.in_bytes_per_s, load.out_bytes_per_s, load.cpu_percent, load.in_messages_per_s)
        >= 'Infinity';

COMMENT ON VIEW store.gate_load_impossible IS 'Loads are finite and never negative, and belong to a partition of the snapshot.';
