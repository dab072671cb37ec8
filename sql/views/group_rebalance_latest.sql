-- Question 8 of docs/sql-and-grafana.md: groups by rebalances and idle members.
-- One reading a day over the last seven days; a generation that falls (a new group) counts from there.
CREATE OR REPLACE VIEW advisor.group_rebalance_latest AS
WITH turned AS (
    SELECT step.cluster, step.group_id, sum(greatest(step.generation - step.earlier, 0)) AS rebalances
    FROM (
        SELECT
            daily.cluster, consumer_group.group_id, consumer_group.generation,
            lag(consumer_group.generation) OVER (
                PARTITION BY daily.cluster, consumer_group.group_id ORDER BY daily.captured_at
            ) AS earlier
        FROM store.daily_snapshot AS daily
        JOIN store.newest_snapshot AS newest
            ON newest.cluster = daily.cluster AND daily.captured_at > newest.captured_at - interval '7 days'
        JOIN store.consumer_group
            ON consumer_group.snapshot_key = daily.snapshot_key AND consumer_group.captured_at = daily.captured_at
        WHERE consumer_group.generation IS NOT NULL
    ) AS step
    WHERE step.earlier IS NOT NULL
    GROUP BY step.cluster, step.group_id
),
idle AS (
    SELECT
        newest.cluster, member.group_id,
        count(*) FILTER (WHERE member.assigned_count = 0) AS members,
        count(*) AS shown
    FROM store.newest_snapshot AS newest
    JOIN store.member ON member.snapshot_key = newest.snapshot_key AND member.captured_at = newest.captured_at
    GROUP BY newest.cluster, member.group_id
)
SELECT
    newest.captured_at,
    newest.cluster,
    grouped.group_id,
    grouped.state,
    grouped.member_count AS members,
    CASE WHEN idle.shown = grouped.member_count THEN idle.members END AS idle_members,
    turned.rebalances AS rebalances_7d,
    grouped.generation,
    grouped.type
FROM store.newest_snapshot AS newest
JOIN store.consumer_group AS grouped
    ON grouped.snapshot_key = newest.snapshot_key AND grouped.captured_at = newest.captured_at
LEFT JOIN turned ON turned.cluster = newest.cluster AND turned.group_id = grouped.group_id
LEFT JOIN idle ON idle.cluster = newest.cluster AND idle.group_id = grouped.group_id;

COMMENT ON VIEW advisor.group_rebalance_latest IS 'Groups of the newest snapshot: rebalances of the last seven days, and idle members.';
COMMENT ON COLUMN advisor.group_rebalance_latest.captured_at IS 'Time of the snapshot.';
COMMENT ON COLUMN advisor.group_rebalance_latest.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.group_rebalance_latest.group_id IS 'Group.';
COMMENT ON COLUMN advisor.group_rebalance_latest.state IS 'State.';
COMMENT ON COLUMN advisor.group_rebalance_latest.members IS 'Members.';
COMMENT ON COLUMN advisor.group_rebalance_latest.idle_members IS 'Members without a partition; NULL where the source does not show each member.';
COMMENT ON COLUMN advisor.group_rebalance_latest.rebalances_7d IS 'Growth of the generation over seven days; NULL with a single snapshot.';
COMMENT ON COLUMN advisor.group_rebalance_latest.generation IS 'Generation now.';
COMMENT ON COLUMN advisor.group_rebalance_latest.type IS 'classic, consumer, share, streams or unknown.';
