-- Assignors are replayed on subscriptions: a member with a partition of an unsubscribed topic makes every replay wrong.
SELECT DISTINCT member.group_id AS subject, member.member_id, topic_run.pair ->> 0 AS topic
FROM {batch} AS snapshot
JOIN store.member ON member.snapshot_key = snapshot.snapshot_key AND member.captured_at = snapshot.captured_at
CROSS JOIN LATERAL jsonb_array_elements(member.assigned || coalesce(member.owned, '[]')) AS topic_run (pair)
WHERE member.subscription IS NOT NULL
    AND member.subscribed_regex IS NULL
    AND topic_run.pair ->> 0 <> ALL (member.subscription)
