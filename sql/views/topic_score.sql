CREATE OR REPLACE VIEW advisor.topic_score AS
SELECT
    run.time,
    run.cluster,
    run.run_id,
    each.topic,
    each.placer,
    each.seed,
    each.replica_skew,
    each.leader_skew,
    each.disk_skew,
    each.replica_moves,
    each.leader_changes,
    each.bytes_to_move,
    each.rack_violations
FROM store.run
JOIN store.topic_score AS each
    ON each.run_key = run.run_key AND each.time = run.time
WHERE run.status = 'published';
