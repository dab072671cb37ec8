CREATE OR REPLACE VIEW advisor.rack_score AS
SELECT
    run.time,
    run.cluster,
    run.run_id,
    rack_score.rack,
    rack_score.resource,
    rack_score.unit,
    rack_score.brokers,
    rack_score.load,
    rack_score.capacity,
    rack_score.level,
    rack_score.over_mean
FROM store.run
JOIN store.rack_score
    ON rack_score.run_key = run.run_key
WHERE run.status = 'published';
