CREATE OR REPLACE VIEW advisor.broker_score AS
SELECT
    run.time,
    run.cluster,
    run.run_id,
    each.broker,
    each.rack,
    each.resource,
    each.unit,
    each.load,
    each.capacity,
    each.level,
    each.over_mean,
    each.fair_share,
    each.source,
    each.stays
FROM store.run
JOIN store.broker_score AS each
    ON each.run_key = run.run_key AND each.time = run.time
WHERE run.status = 'published';
