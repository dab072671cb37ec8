-- Internal: a rule of the input gate.
CREATE OR REPLACE VIEW store.gate_member_reads_unsubscribed AS
SELECT DISTINCT
    snapshot.snapshot_id,
    member.group_id AS subject,
    member.member_id,
    topic_run.pair ->> 0 AS topic
FROM store.snapshot
JOIN store.member ON member.snapshot_key = snapshot.snapshot_key AND member.captured_at = snapshot.captured_at
CROSS JOIN LATERAL jsonb_array_elements(member.assigned || coalesce(member.owned, '[]')) AS topic_run (pair)
WHERE member.subscription IS NOT NULL
    AND member.subscribed_regex IS NULL
    AND topic_run.pair ->> 0 <> ALL (member.subscription);

COMMENT ON VIEW store.gate_member_reads_unsubscribed IS 'Assignors are replayed on subscriptions: a member with a partition of an unsubscribed topic makes every replay wrong.';
