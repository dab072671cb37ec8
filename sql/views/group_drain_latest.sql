-- Question 7 of DESIGN §4: groups by drain time to gain, current against advised assignor.
CREATE OR REPLACE VIEW advisor.group_drain_latest AS
SELECT
    newest.time,
    newest.cluster,
    today.group_id,
    today.assignor AS current_assignor,
    advised.assignor AS advised_assignor,
    today.drain_seconds,
    advised.drain_seconds AS advised_drain_seconds,
    today.drain_seconds - advised.drain_seconds AS gain_seconds,
    today.skew_rate,
    advised.skew_rate AS advised_skew_rate,
    advised.partitions_moved,
    today.members_falling_behind,
    advised.members_falling_behind AS advised_members_falling_behind,
    CASE
        WHEN today.members_falling_behind > 0 THEN 'never'
        WHEN today.drain_seconds > 0 THEN 'drains'
        WHEN today.drain_seconds = 0 THEN 'no_lag'
        WHEN today.members = 0 THEN 'no_members'
        ELSE 'unknown'
    END AS outlook
FROM store.newest_run AS newest
JOIN store.group_score AS today
    ON today.run_key = newest.run_key AND today.time = newest.time AND today.is_current AND today.scenario = 'today'
LEFT JOIN store.group_score AS advised
    ON advised.run_key = newest.run_key AND advised.time = newest.time
    AND advised.group_id = today.group_id AND advised.is_advised AND NOT advised.is_current AND advised.scenario = 'today';
