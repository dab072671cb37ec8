-- Internal: each group's score with its current assignor, and what becomes of its lag.
CREATE OR REPLACE VIEW store.current_group_score AS
SELECT
    run_key,
    started_at,
    group_id,
    assignor,
    idle_members,
    members_falling_behind,
    drain_seconds,
    skew_count,
    skew_rate,
    CASE
        WHEN members_falling_behind > 0 THEN 'never'
        WHEN drain_seconds > 0 THEN 'drains'
        WHEN drain_seconds = 0 THEN 'no_lag'
        WHEN members = 0 THEN 'no_members'
        ELSE 'unknown'
    END AS outlook,
    advice,
    rollover,
    lag_seconds
FROM store.group_score
WHERE is_current AND scenario = 'today';
