-- Internal: what the newest advisory of each cluster says about each subject, also as something that a finding explains. A
-- finding about a partition is about its topic, too, and one about a coordinator about its broker. Muted findings are left out.
CREATE OR REPLACE VIEW store.finding_subject AS
SELECT
    about.cluster,
    about.type AS subject_type,
    about.subject,
    count(*) AS findings,
    (array_agg(about.severity ORDER BY about.position))[1] AS worst_severity,
    (array_agg(about.code ORDER BY about.position))[1] AS worst_code,
    (array_agg(about.team ORDER BY about.position))[1] AS worst_team,
    (array_agg(about.channel ORDER BY about.position))[1] AS worst_channel,
    (array_agg(about.tier ORDER BY about.position))[1] AS worst_tier
FROM (
    SELECT DISTINCT
        newest.cluster, finding.position, finding.severity, finding.code, finding.team, finding.channel, finding.tier,
        named.type, named.subject
    FROM store.newest_run AS newest
    JOIN store.finding ON finding.run_key = newest.run_key AND finding.muted_until IS NULL
    CROSS JOIN LATERAL (
        SELECT finding.subject_type AS type, finding.subject
        UNION ALL
        SELECT symptom.value ->> 'subject_type' AS type, symptom.value ->> 'subject' AS subject
        FROM jsonb_array_elements(finding.evidence -> 'symptoms') AS symptom
    ) AS told
    CROSS JOIN LATERAL (
        SELECT told.type, told.subject
        UNION ALL
        SELECT 'topic', regexp_replace(told.subject, '-[0-9]+$', '') WHERE told.type = 'partition'
        UNION ALL
        SELECT 'broker', told.subject WHERE told.type = 'coordinator'
    ) AS named
) AS about
GROUP BY about.cluster, about.type, about.subject;
