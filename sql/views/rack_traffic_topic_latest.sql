-- Question 9 of docs/sql-and-grafana.md: bytes across racks by topic (replication).
CREATE OR REPLACE VIEW advisor.rack_traffic_topic_latest AS
SELECT
    newest.captured_at,
    newest.cluster,
    placed.topic,
    sum(load.in_bytes_per_s * (cardinality(placed.replicas) - 1)) AS replication_bytes_per_s,
    sum(load.in_bytes_per_s * other.replicas) AS cross_rack_bytes_per_s
FROM store.newest_snapshot AS newest
JOIN store.partition AS placed
    ON placed.snapshot_key = newest.snapshot_key AND placed.captured_at = newest.captured_at
JOIN store.load
    ON load.snapshot_key = newest.snapshot_key AND load.captured_at = newest.captured_at
    AND load.topic = placed.topic AND load.partition = placed.partition
JOIN store.broker AS leader
    ON leader.snapshot_key = newest.snapshot_key AND leader.captured_at = newest.captured_at AND leader.broker = placed.leader
CROSS JOIN LATERAL (
    SELECT CASE WHEN leader.rack IS NOT NULL THEN count(*) FILTER (WHERE follower.rack <> leader.rack) END AS replicas
    FROM store.broker AS follower
    WHERE follower.snapshot_key = newest.snapshot_key AND follower.captured_at = newest.captured_at
        AND follower.broker = ANY (placed.replicas)
) AS other
GROUP BY newest.captured_at, newest.cluster, placed.topic;

COMMENT ON VIEW advisor.rack_traffic_topic_latest IS 'Replication of each topic between racks, in the newest snapshot of each cluster; NULL where rates or racks are unknown.';
COMMENT ON COLUMN advisor.rack_traffic_topic_latest.captured_at IS 'Time of the snapshot.';
COMMENT ON COLUMN advisor.rack_traffic_topic_latest.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.rack_traffic_topic_latest.topic IS 'Topic.';
COMMENT ON COLUMN advisor.rack_traffic_topic_latest.replication_bytes_per_s IS 'Replication of the topic.';
COMMENT ON COLUMN advisor.rack_traffic_topic_latest.cross_rack_bytes_per_s IS 'Replication from a leader to a follower in another rack.';
