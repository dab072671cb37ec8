-- Question 9 of DESIGN §4: bytes across racks by group (reading).
-- Taken for a group that keeps up and reads from leaders: what is written to a partition is what its member reads.
-- Members are unfolded first, for the planner knows nothing of what is inside jsonb.
CREATE OR REPLACE VIEW advisor.rack_traffic_group_latest AS
WITH assigned AS MATERIALIZED (
    SELECT
        newest.time, newest.cluster, newest.snapshot_key, member.group_id, member.rack,
        topic_run.pair ->> 0 AS topic, partitions.partition::integer AS partition
    FROM store.newest_snapshot AS newest
    JOIN store.member ON member.snapshot_key = newest.snapshot_key AND member.time = newest.time
    CROSS JOIN LATERAL jsonb_array_elements(member.assigned) AS topic_run (pair)
    CROSS JOIN LATERAL jsonb_array_elements(topic_run.pair -> 1) AS partitions (partition)
)
SELECT
    assigned.time,
    assigned.cluster,
    assigned.group_id,
    sum(load.in_bytes_per_s) AS read_bytes_per_s,
    -- 0 where racks are known and none is crossed, NULL where of no known rate the racks are.
    sum(CASE
        WHEN assigned.rack <> leader.rack THEN load.in_bytes_per_s
        WHEN assigned.rack = leader.rack THEN 0 * load.in_bytes_per_s
    END) AS cross_rack_bytes_per_s,
    sum(CASE WHEN assigned.rack = leader.rack OR assigned.rack <> leader.rack THEN 0 ELSE 1 END * load.in_bytes_per_s)
        AS rack_unknown_bytes_per_s
FROM assigned
JOIN store.load
    ON load.snapshot_key = assigned.snapshot_key AND load.time = assigned.time
    AND load.topic = assigned.topic AND load.partition = assigned.partition
JOIN store.partition AS placed
    ON placed.snapshot_key = assigned.snapshot_key AND placed.time = assigned.time
    AND placed.topic = assigned.topic AND placed.partition = assigned.partition
LEFT JOIN store.broker AS leader
    ON leader.snapshot_key = assigned.snapshot_key AND leader.time = assigned.time AND leader.broker = placed.leader
GROUP BY assigned.time, assigned.cluster, assigned.group_id;
