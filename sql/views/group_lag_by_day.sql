CREATE OR REPLACE VIEW advisor.group_lag_by_day AS
SELECT
    time,
    cluster,
    group_id,
    readings AS reading_count,
    lag_messages,
    highest_lag_messages
FROM store.lag_day;
