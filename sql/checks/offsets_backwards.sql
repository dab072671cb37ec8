-- The start offset cannot exceed the end offset: the topic was created again between the two requests.
SELECT placed.topic AS subject, placed.partition, placed.start_offset, placed.end_offset
FROM {batch} AS snapshot
JOIN store.partition AS placed ON placed.snapshot_key = snapshot.snapshot_key AND placed.captured_at = snapshot.captured_at
WHERE placed.start_offset > placed.end_offset
