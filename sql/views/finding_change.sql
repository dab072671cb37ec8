-- Question 4 of DESIGN §4: findings that are new, persist, are resolved or came back.
CREATE OR REPLACE VIEW advisor.finding_change AS
WITH finding AS (
    -- Of the newest advisory, and of the one before what the newest no longer says.
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
        -- What another finding explains now is told with that one: it is not resolved.
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
    newest.time,
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
        min(published.time) AS first_time,
        count(*) AS times
    FROM store.published_run AS published
    JOIN store.finding AS same ON same.run_key = published.run_key AND same.finding_key = finding.finding_key
    WHERE published.cluster = finding.cluster
) AS seen;
