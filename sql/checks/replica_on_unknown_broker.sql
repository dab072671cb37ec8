-- Readers list a broker that nobody has seen as dead; a replica on one that is not listed at all was misread.
SELECT placed.topic, placed.partition, replica.broker
FROM {batch} AS snapshot
JOIN store.partition AS placed ON placed.snapshot_key = snapshot.snapshot_key AND placed.time = snapshot.time
CROSS JOIN LATERAL unnest(placed.replicas) AS replica (broker)
WHERE NOT EXISTS (
    SELECT
    FROM store.broker
    WHERE broker.snapshot_key = placed.snapshot_key AND broker.time = placed.time AND broker.broker = replica.broker
)
