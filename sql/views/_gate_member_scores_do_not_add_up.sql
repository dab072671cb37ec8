-- Internal: a rule of the result gate.
CREATE OR REPLACE VIEW store.gate_member_scores_do_not_add_up AS
SELECT
    run.run_id,
    scored.group_id,
    scored.assignor,
    scored.partitions AS reported,
    scored.read AS found,
    scored.strangers
FROM store.checked_run AS run
CROSS JOIN LATERAL (
    SELECT
        whole.group_id, whole.assignor, whole.partitions, sum(part.partitions) AS read,
        count(*) FILTER (WHERE member.member_id IS NULL) AS strangers,
        count(member.partition_count) AS counted
    FROM store.group_score AS whole
    JOIN store.member_score AS part
        ON part.run_key = whole.run_key AND part.started_at = whole.started_at AND part.group_id = whole.group_id
        AND part.assignor = whole.assignor AND part.is_current = whole.is_current
    JOIN store.consumer_group AS grouped
        ON grouped.snapshot_key = run.snapshot_key AND grouped.captured_at = run.snapshot_captured_at
        AND grouped.group_id = whole.group_id AND grouped.type <> 'share'
    LEFT JOIN store.member
        ON member.snapshot_key = run.snapshot_key AND member.captured_at = run.snapshot_captured_at
        AND member.group_id = part.group_id AND member.member_id = part.member_id
    WHERE whole.run_key = run.run_key AND whole.started_at = run.started_at AND whole.scenario = 'today'
    GROUP BY whole.group_id, whole.assignor, whole.is_current, whole.partitions
) AS scored
WHERE (scored.read > scored.partitions AND scored.counted = 0) OR scored.strangers > 0;

COMMENT ON VIEW store.gate_member_scores_do_not_add_up IS 'Members of a group have together at most its partitions (share groups apart), and exist in the snapshot. If the source only counts partitions, the topics of the group are unknown.';
