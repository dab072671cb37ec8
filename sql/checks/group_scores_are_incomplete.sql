-- Each group of the snapshot has one score as it is today, no other group has one, and no quarantined group a recommendation.
SELECT coalesce(grouped.group_id, scored.group_id) AS group_id, coalesce(scored.times, 0) AS scored_today, scored.is_recommended
FROM {batch} AS run
CROSS JOIN LATERAL (
    SELECT consumer_group.group_id
    FROM store.consumer_group
    WHERE consumer_group.snapshot_key = run.snapshot_key AND consumer_group.captured_at = run.snapshot_captured_at
) AS grouped
FULL JOIN (
    SELECT
        group_score.group_id,
        count(*) FILTER (WHERE group_score.is_current AND group_score.scenario = 'today') AS times,
        bool_or(group_score.is_recommended) AS is_recommended
    FROM {batch} AS run
    JOIN store.group_score ON group_score.run_key = run.run_key AND group_score.started_at = run.started_at
    GROUP BY group_score.group_id
) AS scored ON scored.group_id = grouped.group_id
LEFT JOIN store.quarantine AS held
    ON held.snapshot_key = (SELECT run.snapshot_key FROM {batch} AS run)
    AND held.subject_type = 'group' AND held.subject = coalesce(grouped.group_id, scored.group_id)
WHERE grouped.group_id IS NULL
    OR (held.subject IS NULL AND coalesce(scored.times, 0) <> 1)
    OR (held.subject IS NOT NULL AND scored.is_recommended)
