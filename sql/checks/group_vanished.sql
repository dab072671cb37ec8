-- A group that was listed and is Dead when described was deleted while the cluster was read.
SELECT each.group_id AS subject, each.state
FROM {batch} AS snapshot
JOIN store.consumer_group AS each ON each.snapshot_key = snapshot.snapshot_key AND each.time = snapshot.time
WHERE each.state = 'Dead'
