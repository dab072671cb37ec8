-- Notifications. Each query begins with its name and its purpose.

-- name: finding_news
-- Findings of a cluster's newest advisory, each with its severity in the one before (NULL: it was not there).
SELECT
    newest.run_id, finding.severity, finding.code, finding.subject_type, finding.subject, finding.team,
    finding.recommendation_code, finding.recommendation_args,
    finding.muted_until IS NOT NULL AS is_muted,
    (
        SELECT earlier.severity
        FROM store.published_run AS before_it
        JOIN store.finding AS earlier
            ON earlier.run_key = before_it.run_key AND earlier.finding_key = finding.finding_key
        WHERE before_it.cluster = newest.cluster AND before_it.age = 2
    ) AS severity_before
FROM store.newest_run AS newest
JOIN store.finding ON finding.run_key = newest.run_key
WHERE newest.cluster = %(cluster)s
ORDER BY finding.position

-- name: newest_state
-- The newest advisory of a cluster, and its newest run in any state.
SELECT
    health.cluster, published.run_id AS published_run_id, published.verdict, health.published_age_seconds,
    health.last_run_id, health.last_run_state, health.last_failure,
    shown.replica_moves, shown.bytes, shown.leader_changes
FROM advisor.advisor_health AS health
LEFT JOIN advisor.run_latest AS published ON published.cluster = health.cluster
LEFT JOIN advisor.cluster_latest AS shown ON shown.cluster = health.cluster
WHERE health.cluster = %(cluster)s

-- name: sent_lately
-- Messages about a cluster to a recipient in the last 60 days. Uses index notification_of_recipient.
SELECT kind, subject_id, sent_at
FROM store.notification
WHERE cluster = %(cluster)s AND recipient = %(recipient)s AND sent_at > now() - interval '60 days'
ORDER BY sent_at

-- name: insert_notification
-- A message was sent.
INSERT INTO store.notification (cluster, recipient, kind, subject_id)
VALUES (%(cluster)s, %(recipient)s, %(kind)s, %(subject_id)s)

-- name: forget_notifications
-- No query needs more than 60 days.
DELETE FROM store.notification WHERE sent_at < %(before)s
