CREATE OR REPLACE VIEW advisor.move_latest AS
SELECT
    newest.time,
    newest.cluster,
    newest.run_id,
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
FROM store.newest_run AS newest
JOIN store.move AS each
    ON each.run_key = newest.run_key AND each.time = newest.time;

COMMENT ON VIEW advisor.move_latest IS 'Moves of the plan of the newest published advisory of each cluster.';
COMMENT ON COLUMN advisor.move_latest.time IS 'When the advisory was started.';
COMMENT ON COLUMN advisor.move_latest.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.move_latest.run_id IS 'The advisory that says so.';
COMMENT ON COLUMN advisor.move_latest.position IS 'Index in plan.json.';
COMMENT ON COLUMN advisor.move_latest.topic IS 'Topic.';
COMMENT ON COLUMN advisor.move_latest.partition IS 'Partition.';
COMMENT ON COLUMN advisor.move_latest.from_replicas IS 'Replicas today.';
COMMENT ON COLUMN advisor.move_latest.to_replicas IS 'Replicas after, preferred leader first.';
COMMENT ON COLUMN advisor.move_latest.leader_from IS 'Leader today.';
COMMENT ON COLUMN advisor.move_latest.leader_to IS 'Leader after.';
COMMENT ON COLUMN advisor.move_latest.kind IS 'replica, or leader alone.';
COMMENT ON COLUMN advisor.move_latest.bytes IS 'New replicas × the leader''s replica size; NULL where unknown.';
COMMENT ON COLUMN advisor.move_latest.wave IS 'Wave it belongs to, from 1 as the files.';
COMMENT ON COLUMN advisor.move_latest.reason IS 'Why.';
COMMENT ON COLUMN advisor.move_latest.worse_without IS 'What gets worse without it.';
