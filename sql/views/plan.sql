CREATE OR REPLACE VIEW advisor.plan AS
SELECT
    run.time,
    run.cluster,
    run.run_id,
    each.plan_id,
    each.verdict,
    each.reasons,
    each.expires_at,
    each.replica_moves,
    each.bytes,
    each.leader_changes,
    each.seconds,
    each.seconds_slot_filling,
    each.continues,
    each.document
FROM store.run
JOIN store.plan AS each
    ON each.run_key = run.run_key
WHERE run.status = 'published';
