-- Internal: a rule of the input gate.
CREATE OR REPLACE VIEW store.gate_committed_beyond_end AS
SELECT
    snapshot.snapshot_id,
    committed.group_id,
    committed.topic,
    offsets.partition,
    offsets.committed,
    placed.end_offset
FROM store.snapshot
JOIN store.committed_offset AS committed
    ON committed.snapshot_key = snapshot.snapshot_key AND committed.captured_at = snapshot.captured_at
CROSS JOIN LATERAL unnest(committed.partitions, committed.offsets) AS offsets (partition, committed)
JOIN store.partition AS placed
    ON placed.snapshot_key = committed.snapshot_key AND placed.captured_at = committed.captured_at
    AND placed.topic = committed.topic AND placed.partition = offsets.partition
WHERE offsets.committed > placed.end_offset;

COMMENT ON VIEW store.gate_committed_beyond_end IS 'A commit beyond the end offset means a topic that was created again, or two requests at different times: lag is zero.';
