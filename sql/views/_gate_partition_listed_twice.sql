-- Internal: a rule of the input gate.
CREATE OR REPLACE VIEW store.gate_partition_listed_twice AS
SELECT
    snapshot.snapshot_id,
    placed.topic,
    placed.partition,
    count(*) AS times
FROM store.snapshot
JOIN store.partition AS placed ON placed.snapshot_key = snapshot.snapshot_key AND placed.captured_at = snapshot.captured_at
GROUP BY snapshot.snapshot_id, placed.topic, placed.partition
HAVING count(*) > 1;

COMMENT ON VIEW store.gate_partition_listed_twice IS 'Kafka has each partition once; a snapshot with two comes from two clusters, or from one cluster twice.';
