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

COMMENT ON VIEW advisor.move IS 'Moves of every published plan; one row a partition that changes.';
COMMENT ON COLUMN advisor.move.time IS 'When the advisory was started.';
COMMENT ON COLUMN advisor.move.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.move.run_id IS 'The advisory that says so.';
COMMENT ON COLUMN advisor.move.position IS 'Index in plan.json.';
COMMENT ON COLUMN advisor.move.topic IS 'Topic.';
COMMENT ON COLUMN advisor.move.partition IS 'Partition.';
COMMENT ON COLUMN advisor.move.from_replicas IS 'Replicas today.';
COMMENT ON COLUMN advisor.move.to_replicas IS 'Replicas after, preferred leader first.';
COMMENT ON COLUMN advisor.move.leader_from IS 'Leader today.';
COMMENT ON COLUMN advisor.move.leader_to IS 'Leader after.';
COMMENT ON COLUMN advisor.move.kind IS 'replica, or leader alone.';
COMMENT ON COLUMN advisor.move.bytes IS 'New replicas × the leader''s replica size; NULL where unknown.';
COMMENT ON COLUMN advisor.move.wave IS 'Wave it belongs to, from 1 as the files.';
COMMENT ON COLUMN advisor.move.reason IS 'Why.';
COMMENT ON COLUMN advisor.move.worse_without IS 'What gets worse without it.';
