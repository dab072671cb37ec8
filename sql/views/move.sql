CREATE OR REPLACE VIEW advisor.move AS
SELECT
    run.started_at,
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
    move.consequence_if_skipped_code,
    move.consequence_if_skipped_args
FROM store.run
JOIN store.move
    ON move.run_key = run.run_key AND move.started_at = run.started_at
WHERE run.status = 'published';

COMMENT ON VIEW advisor.move IS 'Moves of every published plan; one row a partition that changes.';
COMMENT ON COLUMN advisor.move.started_at IS 'Start of the advisory.';
COMMENT ON COLUMN advisor.move.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.move.run_id IS 'Id of the advisory.';
COMMENT ON COLUMN advisor.move.position IS 'Index in plan.json.';
COMMENT ON COLUMN advisor.move.topic IS 'Topic.';
COMMENT ON COLUMN advisor.move.partition IS 'Partition.';
COMMENT ON COLUMN advisor.move.from_replicas IS 'Replicas before the move.';
COMMENT ON COLUMN advisor.move.to_replicas IS 'Replicas after the move, preferred leader first.';
COMMENT ON COLUMN advisor.move.leader_from IS 'Leader before the move.';
COMMENT ON COLUMN advisor.move.leader_to IS 'Leader after the move.';
COMMENT ON COLUMN advisor.move.kind IS 'replica, leader alone, or order of followers alone.';
COMMENT ON COLUMN advisor.move.bytes IS 'New replicas × the leader''s replica size; NULL where unknown.';
COMMENT ON COLUMN advisor.move.wave IS 'Number of its wave, from 1, as in the file names.';
COMMENT ON COLUMN advisor.move.reason_code IS 'Why: the code of a fact.';
COMMENT ON COLUMN advisor.move.reason_args IS 'Arguments of the reason by name, with units in the names.';
COMMENT ON COLUMN advisor.move.consequence_if_skipped_code IS 'Consequence of leaving this move out: the code of a fact.';
COMMENT ON COLUMN advisor.move.consequence_if_skipped_args IS 'Arguments of that fact.';
