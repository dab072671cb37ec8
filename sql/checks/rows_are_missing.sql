-- A reading says how many brokers, topics, partitions, groups and members it has; other numbers of rows are half a reading.
SELECT counted.what, counted.reported, counted.found
FROM {batch} AS snapshot
CROSS JOIN LATERAL (
    SELECT 'brokers' AS what, snapshot.broker_count AS reported, count(*) AS found
    FROM store.broker AS each
    WHERE each.snapshot_key = snapshot.snapshot_key AND each.time = snapshot.time
    UNION ALL
    SELECT 'topics', snapshot.topic_count, count(*)
    FROM store.topic AS each
    WHERE each.snapshot_key = snapshot.snapshot_key AND each.time = snapshot.time
    UNION ALL
    SELECT 'partitions of topic ' || each.topic, each.partition_count, count(placed.partition)
    FROM store.topic AS each
    LEFT JOIN store.partition AS placed
        ON placed.snapshot_key = each.snapshot_key AND placed.time = each.time AND placed.topic = each.topic
    WHERE each.snapshot_key = snapshot.snapshot_key AND each.time = snapshot.time
    GROUP BY each.topic, each.partition_count
    UNION ALL
    SELECT 'partitions', snapshot.partition_count, count(*)
    FROM store.partition AS each
    WHERE each.snapshot_key = snapshot.snapshot_key AND each.time = snapshot.time
    UNION ALL
    SELECT 'groups', snapshot.group_count, count(*)
    FROM store.consumer_group AS each
    WHERE each.snapshot_key = snapshot.snapshot_key AND each.time = snapshot.time
    UNION ALL
    SELECT 'members', snapshot.member_count, count(*)
    FROM store.member AS each
    WHERE each.snapshot_key = snapshot.snapshot_key AND each.time = snapshot.time
) AS counted
WHERE counted.reported <> counted.found
