-- A commit behind the end is a topic that was made anew, or a little time between two readings: its lag counts as zero.
SELECT committed.group_id, committed.topic, offsets.partition, offsets.committed, placed.end_offset
FROM {batch} AS snapshot
JOIN store.committed_offset AS committed
    ON committed.snapshot_key = snapshot.snapshot_key AND committed.time = snapshot.time
CROSS JOIN LATERAL unnest(committed.partitions, committed.offsets) AS offsets (partition, committed)
JOIN store.partition AS placed
    ON placed.snapshot_key = committed.snapshot_key AND placed.time = committed.time
    AND placed.topic = committed.topic AND placed.partition = offsets.partition
WHERE offsets.committed > placed.end_offset
