CREATE OR REPLACE VIEW advisor.move AS
SELECT
    run.time,
    run.cluster,
    run.run_id,
    each.position,
    each.topic,
    each.partition,
    each.from_replicas,
    each.to_replicas,
    each.leader_from,
    each.leader_to,
    each.kind,
    each.bytes,
    each.wave,
    each.reason,
    each.worse_without
FROM store.run
JOIN store.move AS each
    ON each.run_key = run.run_key AND each.time = run.time
WHERE run.status = 'published';
