CREATE OR REPLACE VIEW advisor.run_latest AS
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
FROM store.newest_run AS newest
JOIN store.run ON run.run_key = newest.run_key
JOIN store.snapshot ON snapshot.snapshot_key = run.snapshot_key
JOIN store.plan ON plan.run_key = run.run_key;
