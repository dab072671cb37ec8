CREATE OR REPLACE VIEW advisor.topic_score AS
SELECT
    run.time,
    run.cluster,
    run.run_id,
    topic_score.topic,
    topic_score.placer,
    topic_score.seed,
    topic_score.replica_skew,
    topic_score.leader_skew,
    topic_score.disk_skew,
    topic_score.replica_moves,
    topic_score.leader_changes,
    topic_score.bytes_to_move,
    topic_score.rack_violations
FROM store.run
JOIN store.topic_score
    ON topic_score.run_key = run.run_key AND topic_score.time = run.time
WHERE run.status = 'published';
