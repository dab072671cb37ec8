CREATE OR REPLACE VIEW advisor.broker_score AS
SELECT
    run.time,
    run.cluster,
    run.run_id,
    broker_score.broker,
    broker_score.rack,
    broker_score.resource,
    broker_score.unit,
    broker_score.load,
    broker_score.capacity,
    broker_score.level,
    broker_score.over_mean,
    broker_score.fair_share,
    broker_score.source,
    broker_score.stays
FROM store.run
JOIN store.broker_score
    ON broker_score.run_key = run.run_key AND broker_score.time = run.time
WHERE run.status = 'published';
