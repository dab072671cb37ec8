-- Question 9 of docs/sql-and-grafana.md: bytes across racks by group (reading).
-- Assumes that the group keeps up and reads from leaders: a member reads what is written to its partitions.
-- Members are unfolded first, because Postgres has no statistics of values inside jsonb.
CREATE OR REPLACE VIEW advisor.rack_traffic_group_latest AS
WITH assigned AS MATERIALIZED (
    SELECT
        newest.captured_at, newest.cluster, newest.snapshot_key, member.group_id, member.rack,
        topic_run.pair ->> 0 AS topic, partitions.partition::integer AS partition
    FROM store.newest_snapshot AS newest
    JOIN store.member ON member.snapshot_key = newest.snapshot_key AND member.captured_at = newest.captured_at
    CROSS JOIN LATERAL jsonb_array_elements(member.assigned) AS topic_run (pair)
    CROSS JOIN LATERAL jsonb_array_elements(topic_run.pair -> 1) AS partitions (partition)
)
SELECT
    assigned.captured_at,
    assigned.cluster,
    assigned.group_id,
    sum(load.in_bytes_per_s) AS read_bytes_per_s,
    -- 0: racks are known and no byte crosses them. NULL: no rate with known racks.
    sum(CASE
        WHEN assigned.rack <> leader.rack THEN load.in_bytes_per_s
        WHEN assigned.rack = leader.rack THEN 0 * load.in_bytes_per_s
    END) AS cross_rack_bytes_per_s,
    sum(CASE WHEN assigned.rack = leader.rack OR assigned.rack <> leader.rack THEN 0 ELSE 1 END * load.in_bytes_per_s)
        AS rack_unknown_bytes_per_s
FROM assigned
JOIN store.load
    ON load.snapshot_key = assigned.snapshot_key AND load.captured_at = assigned.captured_at
    AND load.topic = assigned.topic AND load.partition = assigned.partition
JOIN store.partition AS placed
    ON placed.snapshot_key = assigned.snapshot_key AND placed.captured_at = assigned.captured_at
    AND placed.topic = assigned.topic AND placed.partition = assigned.partition
LEFT JOIN store.broker AS leader
    ON leader.snapshot_key = assigned.snapshot_key AND leader.captured_at = assigned.captured_at AND leader.broker = placed.leader
GROUP BY assigned.captured_at, assigned.cluster, assigned.group_id;

COMMENT ON VIEW advisor.rack_traffic_group_latest IS 'Bytes that each group reads from leaders in other racks, in the newest snapshot of each cluster.';
COMMENT ON COLUMN advisor.rack_traffic_group_latest.captured_at IS 'Time of the snapshot.';
COMMENT ON COLUMN advisor.rack_traffic_group_latest.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.rack_traffic_group_latest.group_id IS 'Group.';
COMMENT ON COLUMN advisor.rack_traffic_group_latest.read_bytes_per_s IS 'Read rate of all members, as far as rates are known.';
COMMENT ON COLUMN advisor.rack_traffic_group_latest.cross_rack_bytes_per_s IS 'Part that comes from leaders in another rack.';
COMMENT ON COLUMN advisor.rack_traffic_group_latest.rack_unknown_bytes_per_s IS 'Part where the member or the leader has no rack.';
