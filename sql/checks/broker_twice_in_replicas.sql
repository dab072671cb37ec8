-- A broker holds one replica of a partition at most, and each partition has at least one.
SELECT placed.topic, placed.partition, placed.replicas::text AS replicas
FROM {batch} AS snapshot
JOIN store.partition AS placed ON placed.snapshot_key = snapshot.snapshot_key AND placed.time = snapshot.time
WHERE cardinality(placed.replicas) = 0
    OR cardinality(placed.replicas) > (SELECT count(DISTINCT replica.broker) FROM unnest(placed.replicas) AS replica (broker))
