CREATE OR REPLACE VIEW advisor.finding AS
SELECT
    run.time,
    run.cluster,
    run.run_id,
    each.position AS rank,
    each.finding_key,
    each.code,
    each.severity,
    each.subject_type,
    each.subject,
    each.evidence,
    each.recommendation,
    each.cost,
    each.gain,
    each.confidence
FROM store.run
JOIN store.finding AS each
    ON each.run_key = run.run_key
WHERE run.status = 'published';
