-- A finding keeps what to do and what that costs as facts (code and arguments); readers make the words. Sentences of
-- earlier advisories have no code: they go.
ALTER TABLE store.finding RENAME COLUMN recommendation TO recommendation_code;
ALTER TABLE store.finding RENAME COLUMN cost TO cost_code;
ALTER TABLE store.finding
    ALTER COLUMN recommendation_code DROP NOT NULL,
    ALTER COLUMN cost_code DROP NOT NULL,
    ADD COLUMN recommendation_args jsonb,
    ADD COLUMN cost_args jsonb;
UPDATE store.finding SET recommendation_code = NULL, cost_code = NULL;

-- Where a group's subscriptions come from is a code.
UPDATE store.group_score
SET basis = CASE basis
    WHEN 'assumed: all members subscribe to all topics that the group reads' THEN 'all_alike'
    ELSE 'as_read'
END
WHERE basis LIKE 'assumed: %';
