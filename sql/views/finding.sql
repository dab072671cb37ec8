CREATE OR REPLACE VIEW advisor.finding AS
SELECT
    run.time,
    run.cluster,
    run.run_id,
    finding.position AS rank,
    finding.finding_key,
    finding.code,
    finding.severity,
    finding.subject_type,
    finding.subject,
    finding.evidence,
    finding.recommendation_code,
    finding.recommendation_args,
    finding.cost_code,
    finding.cost_args,
    finding.gain,
    finding.confidence,
    finding.team,
    finding.channel,
    finding.tier,
    finding.muted_until,
    finding.mute_reason
FROM store.run
JOIN store.finding
    ON finding.run_key = run.run_key
WHERE run.status = 'published';
