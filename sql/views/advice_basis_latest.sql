-- Question 10 of docs/sql-and-grafana.md: which advice rests on estimated or missing data.
CREATE OR REPLACE VIEW advisor.advice_basis_latest AS
SELECT
    newest.started_at,
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
    SELECT 'resource', plan_resource.resource, plan_resource.exclusion_reason_code
    FROM store.plan_resource
    WHERE plan_resource.run_key = newest.run_key AND plan_resource.exclusion_reason_code IS NOT NULL
    UNION ALL
    SELECT
        'load', load_source.kind,
        'source: ' || load_source.source || ', known for ' || round((load_source.known_share * 100)::numeric, 1) || ' % of partitions'
    FROM store.load_source
    WHERE load_source.snapshot_key = newest.snapshot_key
        AND (load_source.source IN ('estimated', 'unknown') OR load_source.known_share < 1)
    UNION ALL
    SELECT 'gap', coverage_gap.subject_type || ' ' || coverage_gap.subject, coverage_gap.missing_code || ': ' || coverage_gap.reason_code
    FROM store.coverage_gap
    WHERE coverage_gap.snapshot_key = newest.snapshot_key
    UNION ALL
    SELECT 'quarantine', quarantine.subject_type || ' ' || quarantine.subject, quarantine.rule
    FROM store.quarantine
    WHERE quarantine.snapshot_key = newest.snapshot_key
) AS basis;

COMMENT ON VIEW advisor.advice_basis_latest IS 'Estimated or missing data behind the newest published advisory; one row each.';
COMMENT ON COLUMN advisor.advice_basis_latest.started_at IS 'Start of the advisory.';
COMMENT ON COLUMN advisor.advice_basis_latest.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.advice_basis_latest.run_id IS 'Id of the advisory.';
COMMENT ON COLUMN advisor.advice_basis_latest.kind IS 'finding (based on estimates), resource (not balanced), load (estimated or partly unknown), gap (not read) or quarantine.';
COMMENT ON COLUMN advisor.advice_basis_latest.subject IS 'Name or id of the subject.';
COMMENT ON COLUMN advisor.advice_basis_latest.reason IS 'Why: a code (resource, gap, quarantine) or a text.';
