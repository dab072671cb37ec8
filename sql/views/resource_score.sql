CREATE OR REPLACE VIEW advisor.resource_score AS
SELECT
    run.time,
    run.cluster,
    run.run_id,
    each.resource,
    each.unit,
    each.source,
    each.known_share,
    each.total,
    each.plain_mean,
    each.skew,
    each.worst_broker
FROM store.run
JOIN store.resource_score AS each
    ON each.run_key = run.run_key
WHERE run.status = 'published';
