-- A finding is about a broker, topic or group of its reading.
SELECT finding.finding_key
FROM {batch} AS run
JOIN store.finding ON finding.run_key = run.run_key
WHERE (
        finding.subject_type = 'broker' AND NOT EXISTS (
            SELECT FROM store.broker AS each
            WHERE each.snapshot_key = run.snapshot_key AND each.time = run.snapshot_time
                AND each.broker::text = finding.subject
        )
    ) OR (
        finding.subject_type = 'topic' AND NOT EXISTS (
            SELECT FROM store.topic AS each
            WHERE each.snapshot_key = run.snapshot_key AND each.time = run.snapshot_time AND each.topic = finding.subject
        )
    ) OR (
        finding.subject_type = 'group' AND NOT EXISTS (
            SELECT FROM store.consumer_group AS each
            WHERE each.snapshot_key = run.snapshot_key AND each.time = run.snapshot_time
                AND each.group_id = finding.subject
        )
    )
