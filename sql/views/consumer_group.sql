CREATE OR REPLACE VIEW advisor.consumer_group AS
SELECT
    snapshot.time,
    snapshot.cluster,
    snapshot.snapshot_id,
    each.group_id,
    each.type,
    each.protocol_type,
    each.protocol,
    each.state,
    each.generation,
    each.coordinator,
    each.member_count
FROM store.snapshot
JOIN store.consumer_group AS each
    ON each.snapshot_key = snapshot.snapshot_key AND each.time = snapshot.time
WHERE snapshot.status = 'passed';

COMMENT ON VIEW advisor.consumer_group IS 'Groups of every reading.';
COMMENT ON COLUMN advisor.consumer_group.time IS 'When the cluster was read.';
COMMENT ON COLUMN advisor.consumer_group.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.consumer_group.snapshot_id IS 'sha256 of the reading''s content.';
COMMENT ON COLUMN advisor.consumer_group.group_id IS 'Group.';
COMMENT ON COLUMN advisor.consumer_group.type IS 'classic, consumer, share, streams or unknown.';
COMMENT ON COLUMN advisor.consumer_group.protocol_type IS 'consumer, connect, …';
COMMENT ON COLUMN advisor.consumer_group.protocol IS 'The assignor''s name.';
COMMENT ON COLUMN advisor.consumer_group.state IS 'State as the coordinator tells it.';
COMMENT ON COLUMN advisor.consumer_group.generation IS 'Generation or epoch: it grows with each rebalance.';
COMMENT ON COLUMN advisor.consumer_group.coordinator IS 'Broker that coordinates it.';
COMMENT ON COLUMN advisor.consumer_group.member_count IS 'Members.';
