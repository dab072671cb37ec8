-- Kafka has each partition once; a snapshot with two comes from two clusters, or from one cluster twice.
SELECT placed.topic, placed.partition, count(*) AS times
FROM {batch} AS snapshot
JOIN store.partition AS placed ON placed.snapshot_key = snapshot.snapshot_key AND placed.captured_at = snapshot.captured_at
GROUP BY placed.topic, placed.partition
HAVING count(*) > 1
