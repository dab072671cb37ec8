CREATE OR REPLACE VIEW advisor.broker_level_by_day AS
SELECT
    time,
    cluster,
    broker,
    resource,
    unit,
    readings AS reading_count,
    load,
    level,
    over_mean,
    highest_over_mean
FROM store.broker_day;
