CREATE OR REPLACE VIEW advisor.consumer_group_latest AS
SELECT
    newest.captured_at,
    newest.cluster,
    newest.snapshot_id,
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
FROM store.newest_snapshot AS newest
JOIN store.consumer_group
    ON consumer_group.snapshot_key = newest.snapshot_key AND consumer_group.captured_at = newest.captured_at;

COMMENT ON VIEW advisor.consumer_group_latest IS 'Groups of the newest snapshot of each cluster.';
COMMENT ON COLUMN advisor.consumer_group_latest.captured_at IS 'Time of the snapshot.';
COMMENT ON COLUMN advisor.consumer_group_latest.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.consumer_group_latest.snapshot_id IS 'sha256 of the snapshot''s content.';
COMMENT ON COLUMN advisor.consumer_group_latest.group_id IS 'Group.';
COMMENT ON COLUMN advisor.consumer_group_latest.type IS 'classic, consumer, share, streams or unknown.';
COMMENT ON COLUMN advisor.consumer_group_latest.protocol_type IS 'consumer, connect, …';
COMMENT ON COLUMN advisor.consumer_group_latest.protocol IS 'The assignor''s name.';
COMMENT ON COLUMN advisor.consumer_group_latest.state IS 'State, as the coordinator reports it.';
COMMENT ON COLUMN advisor.consumer_group_latest.generation IS 'Generation or epoch: it grows with each rebalance.';
COMMENT ON COLUMN advisor.consumer_group_latest.coordinator IS 'Broker that coordinates it.';
COMMENT ON COLUMN advisor.consumer_group_latest.member_count IS 'Members, as the source counts them; it may list fewer.';
COMMENT ON COLUMN advisor.consumer_group_latest.assignment_epoch IS 'Epoch of the assignment that members follow; not of classic groups.';
COMMENT ON COLUMN advisor.consumer_group_latest.subtopologies IS 'Subtopologies of a streams application: topics and state stores.';
COMMENT ON COLUMN advisor.consumer_group_latest.configs IS 'Configs that are set for this group.';
