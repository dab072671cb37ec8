-- Question 9 of DESIGN §4: bytes across racks by topic (replication).
CREATE OR REPLACE VIEW advisor.rack_traffic_topic_latest AS
SELECT
    newest.time,
    newest.cluster,
    placed.topic,
    sum(load.in_bytes_per_s * (cardinality(placed.replicas) - 1)) AS replication_bytes_per_s,
    sum(load.in_bytes_per_s * other.replicas) AS cross_rack_bytes_per_s
FROM store.newest_snapshot AS newest
JOIN store.partition AS placed
    ON placed.snapshot_key = newest.snapshot_key AND placed.time = newest.time
JOIN store.load
    ON load.snapshot_key = newest.snapshot_key AND load.time = newest.time
    AND load.topic = placed.topic AND load.partition = placed.partition
JOIN store.broker AS leader
    ON leader.snapshot_key = newest.snapshot_key AND leader.time = newest.time AND leader.broker = placed.leader
CROSS JOIN LATERAL (
    SELECT CASE WHEN leader.rack IS NOT NULL THEN count(*) FILTER (WHERE follower.rack <> leader.rack) END AS replicas
    FROM store.broker AS follower
    WHERE follower.snapshot_key = newest.snapshot_key AND follower.time = newest.time
        AND follower.broker = ANY (placed.replicas)
) AS other
GROUP BY newest.time, newest.cluster, placed.topic;
