CREATE OR REPLACE VIEW advisor.resource_score AS
SELECT
    run.time,
    run.cluster,
    run.run_id,
    resource_score.resource,
    resource_score.unit,
    resource_score.source,
    resource_score.known_share,
    resource_score.total,
    resource_score.plain_mean,
    resource_score.skew,
    resource_score.worst_broker
FROM store.run
JOIN store.resource_score
    ON resource_score.run_key = run.run_key
WHERE run.status = 'published';
