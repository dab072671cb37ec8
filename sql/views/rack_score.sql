CREATE OR REPLACE VIEW advisor.rack_score AS
SELECT
    run.time,
    run.cluster,
    run.run_id,
    each.rack,
    each.resource,
    each.unit,
    each.brokers,
    each.load,
    each.capacity,
    each.level,
    each.over_mean
FROM store.run
JOIN store.rack_score AS each
    ON each.run_key = run.run_key
WHERE run.status = 'published';
