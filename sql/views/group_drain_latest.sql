-- Question 7 of DESIGN §4: groups by drain time to gain, current against advised assignor.
CREATE OR REPLACE VIEW advisor.group_drain_latest AS
SELECT
    newest.time,
    newest.cluster,
    today.group_id,
    today.assignor AS current_assignor,
    advised.assignor AS advised_assignor,
    today.drain_seconds,
    advised.drain_seconds AS advised_drain_seconds,
    today.drain_seconds - advised.drain_seconds AS gain_seconds,
    today.skew_rate,
    advised.skew_rate AS advised_skew_rate,
    advised.partitions_moved
FROM store.newest_run AS newest
JOIN store.group_score AS today
    ON today.run_key = newest.run_key AND today.time = newest.time AND today.is_current AND today.scenario = 'today'
LEFT JOIN store.group_score AS advised
    ON advised.run_key = newest.run_key AND advised.time = newest.time
    AND advised.group_id = today.group_id AND advised.is_advised AND NOT advised.is_current AND advised.scenario = 'today';

COMMENT ON VIEW advisor.group_drain_latest IS 'Groups of the newest published advisory: assignor of today against the advised one, by drain time and skew.';
COMMENT ON COLUMN advisor.group_drain_latest.time IS 'When the advisory was started.';
COMMENT ON COLUMN advisor.group_drain_latest.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.group_drain_latest.group_id IS 'Group.';
COMMENT ON COLUMN advisor.group_drain_latest.current_assignor IS 'Strategy of today.';
COMMENT ON COLUMN advisor.group_drain_latest.advised_assignor IS 'Advised strategy; NULL: keep it.';
COMMENT ON COLUMN advisor.group_drain_latest.drain_seconds IS 'Time to drain today''s lag as it is.';
COMMENT ON COLUMN advisor.group_drain_latest.advised_drain_seconds IS 'Time to drain it with the advised strategy.';
COMMENT ON COLUMN advisor.group_drain_latest.gain_seconds IS 'What that saves.';
COMMENT ON COLUMN advisor.group_drain_latest.skew_rate IS 'Skew of rates today.';
COMMENT ON COLUMN advisor.group_drain_latest.advised_skew_rate IS 'Skew of rates with the advised strategy.';
COMMENT ON COLUMN advisor.group_drain_latest.partitions_moved IS 'Partitions that change their member once.';
