CREATE OR REPLACE VIEW advisor.skew_by_day AS
SELECT
    time,
    cluster,
    resource,
    unit,
    readings AS reading_count,
    total,
    skew,
    highest_skew,
    worst_broker
FROM store.skew_day;
