-- The first offset that is kept cannot lie behind the next one to be written: the topic was made anew while it was read.
SELECT placed.topic AS subject, placed.partition, placed.start_offset, placed.end_offset
FROM {batch} AS snapshot
JOIN store.partition AS placed ON placed.snapshot_key = snapshot.snapshot_key AND placed.time = snapshot.time
WHERE placed.start_offset > placed.end_offset
