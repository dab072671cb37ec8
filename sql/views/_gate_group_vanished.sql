-- Internal: a rule of the input gate.
CREATE OR REPLACE VIEW store.gate_group_vanished AS
SELECT
    snapshot.snapshot_id,
    consumer_group.group_id AS subject,
    consumer_group.state
FROM store.snapshot
JOIN store.consumer_group ON consumer_group.snapshot_key = snapshot.snapshot_key AND consumer_group.captured_at = snapshot.captured_at
WHERE consumer_group.state = 'Dead';

COMMENT ON VIEW store.gate_group_vanished IS 'A group that was listed and is Dead when described was deleted while the cluster was read.';
