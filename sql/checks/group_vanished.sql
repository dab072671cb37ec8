-- A group that was listed and is Dead when described was deleted while the cluster was read.
SELECT consumer_group.group_id AS subject, consumer_group.state
FROM {batch} AS snapshot
JOIN store.consumer_group ON consumer_group.snapshot_key = snapshot.snapshot_key AND consumer_group.captured_at = snapshot.captured_at
WHERE consumer_group.state = 'Dead'
