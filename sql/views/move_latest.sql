CREATE OR REPLACE VIEW advisor.move_latest AS
SELECT
    newest.started_at,
    newest.cluster,
    newest.run_id,
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
    move.consequence_if_skipped_code,
    move.consequence_if_skipped_args
FROM store.newest_run AS newest
JOIN store.move
    ON move.run_key = newest.run_key AND move.started_at = newest.started_at;

COMMENT ON VIEW advisor.move_latest IS 'Moves of the plan of the newest published advisory of each cluster.';
COMMENT ON COLUMN advisor.move_latest.started_at IS 'Start of the advisory.';
COMMENT ON COLUMN advisor.move_latest.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.move_latest.run_id IS 'Id of the advisory.';
COMMENT ON COLUMN advisor.move_latest.position IS 'Index in plan.json.';
COMMENT ON COLUMN advisor.move_latest.topic IS 'Topic.';
COMMENT ON COLUMN advisor.move_latest.partition IS 'Partition.';
COMMENT ON COLUMN advisor.move_latest.from_replicas IS 'Replicas before the move.';
COMMENT ON COLUMN advisor.move_latest.to_replicas IS 'Replicas after the move, preferred leader first.';
COMMENT ON COLUMN advisor.move_latest.leader_from IS 'Leader before the move.';
COMMENT ON COLUMN advisor.move_latest.leader_to IS 'Leader after the move.';
COMMENT ON COLUMN advisor.move_latest.kind IS 'replica, leader alone, or order of followers alone.';
COMMENT ON COLUMN advisor.move_latest.bytes IS 'New replicas × the leader''s replica size; NULL where unknown.';
COMMENT ON COLUMN advisor.move_latest.wave IS 'Number of its wave, from 1, as in the file names.';
COMMENT ON COLUMN advisor.move_latest.reason_code IS 'Why: the code of a fact.';
COMMENT ON COLUMN advisor.move_latest.reason_args IS 'Arguments of the reason by name, with units in the names.';
COMMENT ON COLUMN advisor.move_latest.consequence_if_skipped_code IS 'Consequence of leaving this move out: the code of a fact.';
COMMENT ON COLUMN advisor.move_latest.consequence_if_skipped_args IS 'Arguments of that fact.';
