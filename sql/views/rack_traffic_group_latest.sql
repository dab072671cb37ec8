-- Question 9 of DESIGN §4: bytes across racks by group (reading).
-- Taken for a group that keeps up and reads from leaders: what is written to a partition is what its member reads.
CREATE OR REPLACE VIEW advisor.rack_traffic_group_latest AS
SELECT
    newest.time,
    newest.cluster,
    member.group_id,
    sum(load.in_bytes_per_s) AS read_bytes_per_s,
    sum(load.in_bytes_per_s) FILTER (WHERE member.rack <> leader.rack) AS cross_rack_bytes_per_s,
    sum(load.in_bytes_per_s) FILTER (WHERE member.rack IS NULL OR leader.rack IS NULL) AS rack_unknown_bytes_per_s
FROM store.newest_snapshot AS newest
JOIN store.member ON member.snapshot_key = newest.snapshot_key AND member.time = newest.time
CROSS JOIN LATERAL jsonb_array_elements(member.assigned) AS topic_run (pair)
CROSS JOIN LATERAL jsonb_array_elements(topic_run.pair -> 1) AS assigned (partition)
JOIN store.load
    ON load.snapshot_key = newest.snapshot_key AND load.time = newest.time
    AND load.topic = topic_run.pair ->> 0 AND load.partition = assigned.partition::integer
JOIN store.partition AS placed
    ON placed.snapshot_key = newest.snapshot_key AND placed.time = newest.time
    AND placed.topic = load.topic AND placed.partition = load.partition
LEFT JOIN store.broker AS leader
    ON leader.snapshot_key = newest.snapshot_key AND leader.time = newest.time AND leader.broker = placed.leader
GROUP BY newest.time, newest.cluster, member.group_id;

COMMENT ON VIEW advisor.rack_traffic_group_latest IS 'What each group reads from leaders in other racks, in the newest reading of each cluster; members without a rack are counted apart.';
COMMENT ON COLUMN advisor.rack_traffic_group_latest.time IS 'When the cluster was read.';
COMMENT ON COLUMN advisor.rack_traffic_group_latest.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.rack_traffic_group_latest.group_id IS 'Group.';
COMMENT ON COLUMN advisor.rack_traffic_group_latest.read_bytes_per_s IS 'All that its members read (known rates).';
COMMENT ON COLUMN advisor.rack_traffic_group_latest.cross_rack_bytes_per_s IS 'From leaders in another rack.';
COMMENT ON COLUMN advisor.rack_traffic_group_latest.rack_unknown_bytes_per_s IS 'Where member or leader has no rack.';
