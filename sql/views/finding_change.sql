-- Question 4 of docs/sql-and-grafana.md: findings that are new, persist, are resolved or came back.
CREATE OR REPLACE VIEW advisor.finding_change AS
WITH finding AS (
    -- Findings of the newest advisory, and those of the one before that are gone.
    SELECT
        published.cluster, published.age,
        finding.finding_key, finding.code, finding.severity, finding.subject_type, finding.subject
    FROM store.published_run AS published
    JOIN store.finding ON finding.run_key = published.run_key
    WHERE published.age = 1
        OR published.age = 2 AND NOT EXISTS (
            SELECT
            FROM store.newest_run AS newest
            JOIN store.finding AS still ON still.run_key = newest.run_key
            WHERE newest.cluster = published.cluster AND still.finding_key = finding.finding_key
        )
        -- A symptom that another finding now explains is not resolved.
        AND NOT EXISTS (
            SELECT
            FROM store.newest_run AS newest
            JOIN store.finding AS cause ON cause.run_key = newest.run_key
            CROSS JOIN LATERAL jsonb_array_elements(cause.evidence -> 'symptoms') AS symptom
            WHERE newest.cluster = published.cluster
                AND concat_ws(':', symptom ->> 'code', symptom ->> 'subject_type', symptom ->> 'subject')
                = finding.finding_key
        )
)
SELECT
    newest.started_at,
    newest.cluster,
    finding.finding_key,
    finding.code,
    finding.severity,
    finding.subject_type,
    finding.subject,
    CASE
        WHEN finding.age = 2 THEN 'resolved'
        WHEN seen.before_last THEN 'persisting'
        WHEN seen.earlier THEN 'reopened'
        ELSE 'new'
    END AS change,
    seen.first_time AS first_seen,
    seen.times AS times_seen
FROM finding
JOIN store.newest_run AS newest ON newest.cluster = finding.cluster
CROSS JOIN LATERAL (
    SELECT
        coalesce(bool_or(published.age = 2), false) AS before_last,
        coalesce(bool_or(published.age > 2), false) AS earlier,
        min(published.started_at) AS first_time,
        count(*) AS times
    FROM store.published_run AS published
    JOIN store.finding AS same ON same.run_key = published.run_key AND same.finding_key = finding.finding_key
    WHERE published.cluster = finding.cluster
) AS seen;

COMMENT ON VIEW advisor.finding_change IS 'Findings of the newest published advisory compared with the one before, resolved ones included.';
COMMENT ON COLUMN advisor.finding_change.started_at IS 'Start of the advisory.';
COMMENT ON COLUMN advisor.finding_change.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.finding_change.finding_key IS 'Key of the finding; equal in every advisory.';
COMMENT ON COLUMN advisor.finding_change.code IS 'Code of the finding.';
COMMENT ON COLUMN advisor.finding_change.severity IS 'Severity in the last advisory with the finding.';
COMMENT ON COLUMN advisor.finding_change.subject_type IS 'Kind of subject.';
COMMENT ON COLUMN advisor.finding_change.subject IS 'Name or id of the subject.';
COMMENT ON COLUMN advisor.finding_change.change IS 'new, persisting, resolved, or reopened (in an earlier advisory, but not in the one before).';
COMMENT ON COLUMN advisor.finding_change.first_seen IS 'Start of the first published advisory with the finding.';
COMMENT ON COLUMN advisor.finding_change.times_seen IS 'Published advisories with the finding.';
