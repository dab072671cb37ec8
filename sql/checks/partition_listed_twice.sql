-- Kafka has each partition once; a reading with two has read two clusters, or one cluster twice.
SELECT placed.topic, placed.partition, count(*) AS times
FROM {batch} AS snapshot
JOIN store.partition AS placed ON placed.snapshot_key = snapshot.snapshot_key AND placed.time = snapshot.time
GROUP BY placed.topic, placed.partition
HAVING count(*) > 1
