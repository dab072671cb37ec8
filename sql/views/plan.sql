CREATE OR REPLACE VIEW advisor.plan AS
SELECT
    run.time,
    run.cluster,
    run.run_id,
    plan.plan_id,
    plan.verdict,
    plan.reasons,
    plan.expires_at,
    plan.replica_moves,
    plan.bytes,
    plan.leader_changes,
    plan.seconds,
    plan.seconds_slot_filling,
    plan.continues,
    plan.document
FROM store.run
JOIN store.plan
    ON plan.run_key = run.run_key
WHERE run.status = 'published';
