-- A reading says how many brokers, topics, partitions, groups and members it has; other numbers of rows are half a reading.
SELECT counted.what, counted.reported, counted.found
FROM {batch} AS snapshot
CROSS JOIN LATERAL (
    SELECT 'brokers' AS what, snapshot.broker_count AS reported, count(*) AS found
    FROM store.broker
    WHERE broker.snapshot_key = snapshot.snapshot_key AND broker.time = snapshot.time
    UNION ALL
    SELECT 'topics', snapshot.topic_count, count(*)
    FROM store.topic
    WHERE topic.snapshot_key = snapshot.snapshot_key AND topic.time = snapshot.time
    UNION ALL
    SELECT 'partitions of topic ' || topic.topic, topic.partition_count, count(placed.partition)
    FROM store.topic
    LEFT JOIN store.partition AS placed
        ON placed.snapshot_key = topic.snapshot_key AND placed.time = topic.time AND placed.topic = topic.topic
    WHERE topic.snapshot_key = snapshot.snapshot_key AND topic.time = snapshot.time
    GROUP BY topic.topic, topic.partition_count
    UNION ALL
    SELECT 'partitions', snapshot.partition_count, count(*)
    FROM store.partition
    WHERE partition.snapshot_key = snapshot.snapshot_key AND partition.time = snapshot.time
    UNION ALL
    SELECT 'groups', snapshot.group_count, count(*)
    FROM store.consumer_group
    WHERE consumer_group.snapshot_key = snapshot.snapshot_key AND consumer_group.time = snapshot.time
    UNION ALL
    SELECT 'members', snapshot.member_count, count(*)
    FROM store.member
    WHERE member.snapshot_key = snapshot.snapshot_key AND member.time = snapshot.time
) AS counted
WHERE counted.reported <> counted.found
