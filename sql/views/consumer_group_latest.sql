CREATE OR REPLACE VIEW advisor.consumer_group_latest AS
SELECT
    newest.time,
    newest.cluster,
    newest.snapshot_id,
    each.group_id,
    each.type,
    each.protocol_type,
    each.protocol,
    each.state,
    each.generation,
    each.coordinator,
    each.member_count
FROM store.newest_snapshot AS newest
JOIN store.consumer_group AS each
    ON each.snapshot_key = newest.snapshot_key AND each.time = newest.time;

COMMENT ON VIEW advisor.consumer_group_latest IS 'Groups of the newest reading of each cluster.';
COMMENT ON COLUMN advisor.consumer_group_latest.time IS 'When the cluster was read.';
COMMENT ON COLUMN advisor.consumer_group_latest.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.consumer_group_latest.snapshot_id IS 'sha256 of the reading''s content.';
COMMENT ON COLUMN advisor.consumer_group_latest.group_id IS 'Group.';
COMMENT ON COLUMN advisor.consumer_group_latest.type IS 'classic, consumer, share, streams or unknown.';
COMMENT ON COLUMN advisor.consumer_group_latest.protocol_type IS 'consumer, connect, …';
COMMENT ON COLUMN advisor.consumer_group_latest.protocol IS 'The assignor''s name.';
COMMENT ON COLUMN advisor.consumer_group_latest.state IS 'State as the coordinator tells it.';
COMMENT ON COLUMN advisor.consumer_group_latest.generation IS 'Generation or epoch: it grows with each rebalance.';
COMMENT ON COLUMN advisor.consumer_group_latest.coordinator IS 'Broker that coordinates it.';
COMMENT ON COLUMN advisor.consumer_group_latest.member_count IS 'Members.';
