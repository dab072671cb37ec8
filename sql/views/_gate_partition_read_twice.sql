-- Internal: a rule of the input gate.
CREATE OR REPLACE VIEW store.gate_partition_read_twice AS
SELECT
    snapshot.snapshot_id,
    member.group_id AS subject,
    topic_run.pair ->> 0 AS topic,
    assigned.partition::integer AS partition,
    count(*) AS readers
FROM store.snapshot
JOIN store.consumer_group AS grouped
    ON grouped.snapshot_key = snapshot.snapshot_key AND grouped.captured_at = snapshot.captured_at AND grouped.type <> 'share'
JOIN store.member
    ON member.snapshot_key = snapshot.snapshot_key AND member.captured_at = snapshot.captured_at
    AND member.group_id = grouped.group_id
CROSS JOIN LATERAL jsonb_array_elements(member.assigned) AS topic_run (pair)
CROSS JOIN LATERAL jsonb_array_elements(topic_run.pair -> 1) AS assigned (partition)
GROUP BY snapshot.snapshot_id, member.group_id, topic_run.pair ->> 0, assigned.partition::integer
HAVING count(*) > 1;

COMMENT ON VIEW store.gate_partition_read_twice IS 'In every group but a share group a partition has one member; two members mean a snapshot in the middle of a rebalance.';
