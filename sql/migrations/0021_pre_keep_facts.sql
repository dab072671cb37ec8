-- Reasons are facts (a code with arguments), not sentences: render makes the words.
ALTER TABLE store.plan ALTER COLUMN reasons TYPE jsonb USING '[]'::jsonb;
ALTER TABLE store.plan_resource
    DROP CONSTRAINT plan_resource_balanced_or_left_out,
    DROP COLUMN left_out_because,
    ADD COLUMN left_out_code text,
    ADD COLUMN left_out_args jsonb,
    ADD CONSTRAINT plan_resource_balanced_or_left_out CHECK ((left_out_code IS NULL) = (skew_before IS NOT NULL));
ALTER TABLE store.frontier_point DROP COLUMN reason, ADD COLUMN reasons jsonb NOT NULL;
