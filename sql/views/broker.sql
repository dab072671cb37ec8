CREATE OR REPLACE VIEW advisor.broker AS
SELECT
    snapshot.captured_at,
    snapshot.cluster,
    snapshot.snapshot_id,
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
FROM store.snapshot
JOIN store.broker
    ON broker.snapshot_key = snapshot.snapshot_key AND broker.captured_at = snapshot.captured_at
WHERE snapshot.status = 'passed' AND NOT snapshot.is_pruned;

COMMENT ON VIEW advisor.broker IS 'Brokers of every snapshot; one row a broker.';
COMMENT ON COLUMN advisor.broker.captured_at IS 'Time of the snapshot.';
COMMENT ON COLUMN advisor.broker.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.broker.snapshot_id IS 'sha256 of the snapshot''s content.';
COMMENT ON COLUMN advisor.broker.broker IS 'Broker id.';
COMMENT ON COLUMN advisor.broker.rack IS 'Rack; NULL where the broker has none.';
COMMENT ON COLUMN advisor.broker.host IS 'Advertised host.';
COMMENT ON COLUMN advisor.broker.port IS 'Advertised port.';
COMMENT ON COLUMN advisor.broker.state IS 'alive, new, draining or demoted; unresponsive, refused, silent or disconnected (not reached); fenced or dead.';
COMMENT ON COLUMN advisor.broker.is_controller IS 'True for the active controller.';
COMMENT ON COLUMN advisor.broker.capacity_disk_bytes IS 'Given disk capacity; NULL where none was given.';
COMMENT ON COLUMN advisor.broker.capacity_in_bytes_per_s IS 'Given inbound capacity.';
COMMENT ON COLUMN advisor.broker.capacity_out_bytes_per_s IS 'Given outbound capacity.';
COMMENT ON COLUMN advisor.broker.capacity_cpu_percent IS 'Given CPU capacity.';
COMMENT ON COLUMN advisor.broker.configs IS 'Broker configs that matter to advice.';
