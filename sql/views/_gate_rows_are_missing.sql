-- Internal: a rule of the input gate.
CREATE OR REPLACE VIEW store.gate_rows_are_missing AS
SELECT
    snapshot.snapshot_id,
    counted.what,
    counted.reported,
    counted.found
FROM store.snapshot
CROSS JOIN LATERAL (
    SELECT 'brokers' AS what, snapshot.broker_count AS reported, count(*) AS found
    FROM store.broker
    WHERE broker.snapshot_key = snapshot.snapshot_key AND broker.captured_at = snapshot.captured_at
    UNION ALL
    SELECT 'topics', snapshot.topic_count, count(*)
    FROM store.topic
    WHERE topic.snapshot_key = snapshot.snapshot_key AND topic.captured_at = snapshot.captured_at
    UNION ALL
    SELECT 'partitions of topic ' || topic.topic, topic.partition_count, count(placed.partition)
    FROM store.topic
    LEFT JOIN store.partition AS placed
        ON placed.snapshot_key = topic.snapshot_key AND placed.captured_at = topic.captured_at AND placed.topic = topic.topic
    WHERE topic.snapshot_key = snapshot.snapshot_key AND topic.captured_at = snapshot.captured_at
    GROUP BY topic.topic, topic.partition_count
    UNION ALL
    SELECT 'partitions', snapshot.partition_count, count(*)
    FROM store.partition
    WHERE partition.snapshot_key = snapshot.snapshot_key AND partition.captured_at = snapshot.captured_at
    UNION ALL
    SELECT 'groups', snapshot.group_count, count(*)
    FROM store.consumer_group
    WHERE consumer_group.snapshot_key = snapshot.snapshot_key AND consumer_group.captured_at = snapshot.captured_at
    UNION ALL
    SELECT 'members', snapshot.member_count, count(*)
    FROM store.member
    WHERE member.snapshot_key = snapshot.snapshot_key AND member.captured_at = snapshot.captured_at
) AS counted
WHERE counted.reported <> counted.found;

COMMENT ON VIEW store.gate_rows_are_missing IS 'A snapshot counts its brokers, topics, partitions, groups and members; other row counts mean an incomplete snapshot.';
