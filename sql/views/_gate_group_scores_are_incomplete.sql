-- Internal: a rule of the result gate.
CREATE OR REPLACE VIEW store.gate_group_scores_are_incomplete AS
SELECT
    run.run_id,
    compared.group_id,
    compared.scored_today,
    compared.is_recommended
FROM store.checked_run AS run
CROSS JOIN LATERAL (
    SELECT
        coalesce(grouped.group_id, scored.group_id) AS group_id,
        coalesce(scored.times, 0) AS scored_today,
        scored.is_recommended,
        grouped.group_id IS NULL AS is_unknown
    FROM (
        SELECT consumer_group.group_id
        FROM store.consumer_group
        WHERE consumer_group.snapshot_key = run.snapshot_key AND consumer_group.captured_at = run.snapshot_captured_at
    ) AS grouped
    FULL JOIN (
        SELECT
            group_score.group_id,
            count(*) FILTER (WHERE group_score.is_current AND group_score.scenario = 'today') AS times,
            bool_or(group_score.is_recommended) AS is_recommended
        FROM store.group_score
        WHERE group_score.run_key = run.run_key AND group_score.started_at = run.started_at
        GROUP BY group_score.group_id
    ) AS scored ON scored.group_id = grouped.group_id
) AS compared
LEFT JOIN store.quarantine AS held
    ON held.snapshot_key = run.snapshot_key AND held.subject_type = 'group' AND held.subject = compared.group_id
WHERE compared.is_unknown
    OR (held.subject IS NULL AND compared.scored_today <> 1)
    OR (held.subject IS NOT NULL AND compared.is_recommended);

COMMENT ON VIEW store.gate_group_scores_are_incomplete IS
'Each group of the snapshot has one score as it is today, no other group has one, and no quarantined group a recommendation.';
