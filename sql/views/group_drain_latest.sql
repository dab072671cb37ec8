-- Question 7 of docs/sql-and-grafana.md: groups by drain time to gain, current against recommended assignor.
CREATE OR REPLACE VIEW advisor.group_drain_latest AS
SELECT
    newest.started_at,
    newest.cluster,
    today.group_id,
    today.assignor AS current_assignor,
    recommended.assignor AS recommended_assignor,
    today.drain_seconds,
    recommended.drain_seconds AS recommended_drain_seconds,
    today.drain_seconds - recommended.drain_seconds AS gain_seconds,
    today.skew_rate,
    recommended.skew_rate AS recommended_skew_rate,
    recommended.partitions_moved,
    today.members_falling_behind,
    recommended.members_falling_behind AS recommended_members_falling_behind,
    today.outlook,
    today.advice ->> 'code' AS advice_code,
    today.advice -> 'args' AS advice_args,
    today.rollover
FROM store.newest_run AS newest
JOIN store.current_group_score AS today
    ON today.run_key = newest.run_key AND today.started_at = newest.started_at
LEFT JOIN store.group_score AS recommended
    ON recommended.run_key = newest.run_key AND recommended.started_at = newest.started_at
    AND recommended.group_id = today.group_id AND recommended.is_recommended AND NOT recommended.is_current AND recommended.scenario = 'today';

COMMENT ON VIEW advisor.group_drain_latest IS 'Groups of the newest published advisory: drain time and skew of the current and of the recommended assignor.';
COMMENT ON COLUMN advisor.group_drain_latest.started_at IS 'Start of the advisory.';
COMMENT ON COLUMN advisor.group_drain_latest.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.group_drain_latest.group_id IS 'Group.';
COMMENT ON COLUMN advisor.group_drain_latest.current_assignor IS 'Current assignor.';
COMMENT ON COLUMN advisor.group_drain_latest.recommended_assignor IS 'Recommended assignor; NULL: keep the current one.';
COMMENT ON COLUMN advisor.group_drain_latest.drain_seconds IS 'Time until the lag is gone with the current assignor; NULL: unknown or never.';
COMMENT ON COLUMN advisor.group_drain_latest.recommended_drain_seconds IS 'The same with the recommended assignor.';
COMMENT ON COLUMN advisor.group_drain_latest.gain_seconds IS 'Drain time that the recommended assignor saves.';
COMMENT ON COLUMN advisor.group_drain_latest.skew_rate IS 'Skew of rates with the current assignor.';
COMMENT ON COLUMN advisor.group_drain_latest.recommended_skew_rate IS 'Skew of rates with the recommended assignor.';
COMMENT ON COLUMN advisor.group_drain_latest.partitions_moved IS 'Partitions that change their member when the assignor changes.';
COMMENT ON COLUMN advisor.group_drain_latest.members_falling_behind IS 'Members whose lag is never gone; NULL: unknown.';
COMMENT ON COLUMN advisor.group_drain_latest.recommended_members_falling_behind IS 'The same with the recommended assignor.';
COMMENT ON COLUMN advisor.group_drain_latest.outlook IS 'Current lag: no_lag, drains, never (some members fall behind), no_members, or unknown (no read rates).';
COMMENT ON COLUMN advisor.group_drain_latest.advice_code IS 'Advice about its strategy: code of a fact, as in groups.json.';
COMMENT ON COLUMN advisor.group_drain_latest.advice_args IS 'Arguments of that fact.';
COMMENT ON COLUMN advisor.group_drain_latest.rollover IS 'Steps to the recommended assignor, then what may be read twice: facts, as in groups.json; NULL: keep the current one.';
