-- Internal: a rule of the result gate.
CREATE OR REPLACE VIEW store.gate_finding_of_unknown_subject AS
SELECT
    run.run_id,
    finding.finding_key
FROM store.checked_run AS run
JOIN store.finding ON finding.run_key = run.run_key
WHERE (
        finding.subject_type = 'broker' AND NOT EXISTS (
            SELECT FROM store.broker
            WHERE broker.snapshot_key = run.snapshot_key AND broker.captured_at = run.snapshot_captured_at
                AND broker.broker::text = finding.subject
        )
    ) OR (
        finding.subject_type = 'topic' AND NOT EXISTS (
            SELECT FROM store.topic
            WHERE topic.snapshot_key = run.snapshot_key AND topic.captured_at = run.snapshot_captured_at
                AND topic.topic = finding.subject
        )
    ) OR (
        finding.subject_type = 'group' AND NOT EXISTS (
            SELECT FROM store.consumer_group
            WHERE consumer_group.snapshot_key = run.snapshot_key AND consumer_group.captured_at = run.snapshot_captured_at
                AND consumer_group.group_id = finding.subject
        )
    );

COMMENT ON VIEW store.gate_finding_of_unknown_subject IS 'A finding is about a broker, topic or group of its snapshot.';
