CREATE OR REPLACE VIEW advisor.run AS
SELECT
    run.time,
    run.cluster,
    run.run_id,
    snapshot.snapshot_id,
    snapshot.time AS snapshot_time,
    run.published_at,
    run.parameters,
    run.seed,
    run.advisor_version,
    plan.verdict,
    plan.plan_id
FROM store.run
JOIN store.snapshot ON snapshot.snapshot_key = run.snapshot_key
JOIN store.plan ON plan.run_key = run.run_key
WHERE run.status = 'published';
