-- How far each wave of the newest plan is, in the newest snapshot.
CREATE OR REPLACE VIEW advisor.wave_status_latest AS
SELECT
    moved.started_at,
    moved.cluster,
    moved.run_id,
    moved.wave,
    count(*) AS move_count,
    count(*) FILTER (WHERE moved.state = 'applied') AS applied_count,
    count(*) FILTER (WHERE moved.state IN ('moving', 'placed')) AS running_count
FROM store.move_outcome AS moved
WHERE moved.age = 1
GROUP BY moved.started_at, moved.cluster, moved.run_id, moved.wave;
COMMENT ON VIEW advisor.wave_status_latest IS 'Waves of the newest plan: moves, and how many of them the newest snapshot shows as applied or running.';
COMMENT ON COLUMN advisor.wave_status_latest.started_at IS 'Start of the advisory.';
COMMENT ON COLUMN advisor.wave_status_latest.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.wave_status_latest.run_id IS 'Advisory of the plan.';
COMMENT ON COLUMN advisor.wave_status_latest.wave IS 'Wave.';
COMMENT ON COLUMN advisor.wave_status_latest.move_count IS 'Moves of the wave.';
COMMENT ON COLUMN advisor.wave_status_latest.applied_count IS 'Moves whose replicas and leader are those of the plan.';
COMMENT ON COLUMN advisor.wave_status_latest.running_count IS 'Moves under way: being reassigned, or with their leader not elected yet.';
