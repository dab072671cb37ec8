CREATE OR REPLACE VIEW advisor.broker_latest AS
SELECT
    newest.captured_at,
    newest.cluster,
    newest.snapshot_id,
    broker.broker,
    broker.rack,
    broker.host,
    broker.port,
    broker.state,
    broker.is_controller,
    broker.capacity_disk_bytes,
    broker.capacity_in_bytes_per_s,
    broker.capacity_out_bytes_per_s,
    broker.capacity_cpu_percent,
    broker.configs
FROM store.newest_snapshot AS newest
JOIN store.broker
    ON broker.snapshot_key = newest.snapshot_key AND broker.captured_at = newest.captured_at;

COMMENT ON VIEW advisor.broker_latest IS 'Brokers of the newest snapshot of each cluster.';
COMMENT ON COLUMN advisor.broker_latest.captured_at IS 'Time of the snapshot.';
COMMENT ON COLUMN advisor.broker_latest.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.broker_latest.snapshot_id IS 'sha256 of the snapshot''s content.';
COMMENT ON COLUMN advisor.broker_latest.broker IS 'Broker id.';
COMMENT ON COLUMN advisor.broker_latest.rack IS 'Rack; NULL where the broker has none.';
COMMENT ON COLUMN advisor.broker_latest.host IS 'Advertised host.';
COMMENT ON COLUMN advisor.broker_latest.port IS 'Advertised port.';
COMMENT ON COLUMN advisor.broker_latest.state IS 'alive, new, draining or demoted; unresponsive, refused, silent or disconnected (not reached); fenced or dead.';
COMMENT ON COLUMN advisor.broker_latest.is_controller IS 'True for the active controller.';
COMMENT ON COLUMN advisor.broker_latest.capacity_disk_bytes IS 'Given disk capacity; NULL where none was given.';
COMMENT ON COLUMN advisor.broker_latest.capacity_in_bytes_per_s IS 'Given inbound capacity.';
COMMENT ON COLUMN advisor.broker_latest.capacity_out_bytes_per_s IS 'Given outbound capacity.';
COMMENT ON COLUMN advisor.broker_latest.capacity_cpu_percent IS 'Given CPU capacity.';
COMMENT ON COLUMN advisor.broker_latest.configs IS 'Broker configs that matter to advice.';
