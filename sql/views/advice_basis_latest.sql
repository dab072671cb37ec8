-- Question 10 of DESIGN §4: which advice rests on estimated or missing data.
CREATE OR REPLACE VIEW advisor.advice_basis_latest AS
SELECT
    newest.time,
    newest.cluster,
    newest.run_id,
    basis.kind,
    basis.subject,
    basis.reason
FROM store.newest_run AS newest
CROSS JOIN LATERAL (
    SELECT 'finding' AS kind, finding.finding_key AS subject, 'confidence: ' || finding.confidence AS reason
    FROM store.finding
    WHERE finding.run_key = newest.run_key AND finding.confidence = 'estimated'
    UNION ALL
    SELECT 'resource', plan_resource.resource, plan_resource.left_out_code
    FROM store.plan_resource
    WHERE plan_resource.run_key = newest.run_key AND plan_resource.left_out_code IS NOT NULL
    UNION ALL
    SELECT
        'load', load_source.kind,
        'source: ' || load_source.source || ', known for ' || round((load_source.known_share * 100)::numeric, 1) || ' % of partitions'
    FROM store.load_source
    WHERE load_source.snapshot_key = newest.snapshot_key
        AND (load_source.source IN ('estimated', 'unknown') OR load_source.known_share < 1)
    UNION ALL
    SELECT 'gap', coverage_gap.subject_type || ' ' || coverage_gap.subject, coverage_gap.what_code || ': ' || coverage_gap.reason_code
    FROM store.coverage_gap
    WHERE coverage_gap.snapshot_key = newest.snapshot_key
    UNION ALL
    SELECT 'quarantine', quarantine.subject_type || ' ' || quarantine.subject, quarantine.rule
    FROM store.quarantine
    WHERE quarantine.snapshot_key = newest.snapshot_key
) AS basis;
