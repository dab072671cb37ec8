-- Internal: a rule of the input gate.
CREATE OR REPLACE VIEW store.gate_offsets_backwards AS
SELECT
    snapshot.snapshot_id,
    placed.topic AS subject,
    placed.partition,
    placed.start_offset,
    placed.end_offset
FROM store.snapshot
JOIN store.partition AS placed ON placed.snapshot_key = snapshot.snapshot_key AND placed.captured_at = snapshot.captured_at
WHERE placed.start_offset > placed.end_offset;

COMMENT ON VIEW store.gate_offsets_backwards IS 'The start offset cannot exceed the end offset: the topic was created again between the two requests.';
