-- A broker holds one replica of a partition at most, and each partition has at least one. A reading without a broker has none
-- to show, but only if it says so itself: a group table alone does, a live reading never does.
SELECT placed.topic, placed.partition, placed.replicas::text AS replicas
FROM {batch} AS snapshot
JOIN store.partition AS placed ON placed.snapshot_key = snapshot.snapshot_key AND placed.time = snapshot.time
WHERE (
        cardinality(placed.replicas) = 0 AND (
            snapshot.broker_count > 0 OR NOT EXISTS (
                SELECT
                FROM store.coverage_gap AS gap
                WHERE gap.snapshot_key = snapshot.snapshot_key AND gap.subject_type = 'cluster'
                    AND gap.what_code = 'lacks_placement'
            )
        )
    )
    OR cardinality(placed.replicas) > (SELECT count(DISTINCT replica.broker) FROM unnest(placed.replicas) AS replica (broker))
