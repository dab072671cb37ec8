CREATE OR REPLACE VIEW advisor.consumer_group AS
SELECT
    snapshot.captured_at,
    snapshot.cluster,
    snapshot.snapshot_id,
    consumer_group.group_id,
    consumer_group.type,
    consumer_group.protocol_type,
    consumer_group.protocol,
    consumer_group.state,
    consumer_group.generation,
    consumer_group.coordinator,
    consumer_group.member_count,
    consumer_group.assignment_epoch,
    consumer_group.subtopologies,
    consumer_group.configs
FROM store.snapshot
JOIN store.consumer_group
    ON consumer_group.snapshot_key = snapshot.snapshot_key AND consumer_group.captured_at = snapshot.captured_at
WHERE snapshot.status = 'passed' AND NOT snapshot.is_pruned;

COMMENT ON VIEW advisor.consumer_group IS 'Groups of every snapshot.';
COMMENT ON COLUMN advisor.consumer_group.captured_at IS 'Time of the snapshot.';
COMMENT ON COLUMN advisor.consumer_group.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.consumer_group.snapshot_id IS 'sha256 of the snapshot''s content.';
COMMENT ON COLUMN advisor.consumer_group.group_id IS 'Group.';
COMMENT ON COLUMN advisor.consumer_group.type IS 'classic, consumer, share, streams or unknown.';
COMMENT ON COLUMN advisor.consumer_group.protocol_type IS 'consumer, connect, …';
COMMENT ON COLUMN advisor.consumer_group.protocol IS 'The assignor''s name.';
COMMENT ON COLUMN advisor.consumer_group.state IS 'State, as the coordinator reports it.';
COMMENT ON COLUMN advisor.consumer_group.generation IS 'Generation or epoch: it grows with each rebalance.';
COMMENT ON COLUMN advisor.consumer_group.coordinator IS 'Broker that coordinates it.';
COMMENT ON COLUMN advisor.consumer_group.member_count IS 'Members, as the source counts them; it may list fewer.';
COMMENT ON COLUMN advisor.consumer_group.assignment_epoch IS 'Epoch of the assignment that members follow; not of classic groups.';
COMMENT ON COLUMN advisor.consumer_group.subtopologies IS 'Subtopologies of a streams application: topics and state stores.';
COMMENT ON COLUMN advisor.consumer_group.configs IS 'Configs that are set for this group.';
