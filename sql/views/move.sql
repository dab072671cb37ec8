CREATE OR REPLACE VIEW advisor.move AS
SELECT
    run.time,
    run.cluster,
    run.run_id,
    move.position,
    move.topic,
    move.partition,
    move.from_replicas,
    move.to_replicas,
    move.leader_from,
    move.leader_to,
    move.kind,
    move.bytes,
    move.wave,
    move.reason_code,
    move.reason_args,
    move.worse_without_code,
    move.worse_without_args
FROM store.run
JOIN store.move
    ON move.run_key = run.run_key AND move.time = run.time
WHERE run.status = 'published';
