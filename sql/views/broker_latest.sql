CREATE OR REPLACE VIEW advisor.broker_latest AS
SELECT
    newest.time,
    newest.cluster,
    newest.snapshot_id,
    each.broker,
    each.rack,
    each.host,
    each.port,
    each.state,
    each.is_controller,
    each.capacity_disk_bytes,
    each.capacity_in_bytes_per_s,
    each.capacity_out_bytes_per_s,
    each.capacity_cpu_percent,
    each.configs
FROM store.newest_snapshot AS newest
JOIN store.broker AS each
    ON each.snapshot_key = newest.snapshot_key AND each.time = newest.time;

COMMENT ON VIEW advisor.broker_latest IS 'Brokers of the newest reading of each cluster.';
COMMENT ON COLUMN advisor.broker_latest.time IS 'When the cluster was read.';
COMMENT ON COLUMN advisor.broker_latest.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.broker_latest.snapshot_id IS 'sha256 of the reading''s content.';
COMMENT ON COLUMN advisor.broker_latest.broker IS 'Broker id.';
COMMENT ON COLUMN advisor.broker_latest.rack IS 'Rack; NULL where the broker has none.';
COMMENT ON COLUMN advisor.broker_latest.host IS 'Advertised host.';
COMMENT ON COLUMN advisor.broker_latest.port IS 'Advertised port.';
COMMENT ON COLUMN advisor.broker_latest.state IS 'alive, new, draining, demoted, fenced or dead (replicas are placed on it, nobody has seen it).';
COMMENT ON COLUMN advisor.broker_latest.is_controller IS 'It was the active controller.';
COMMENT ON COLUMN advisor.broker_latest.capacity_disk_bytes IS 'Disk it can carry, as given; NULL where nobody said.';
COMMENT ON COLUMN advisor.broker_latest.capacity_in_bytes_per_s IS 'Inbound rate it can carry, as given.';
COMMENT ON COLUMN advisor.broker_latest.capacity_out_bytes_per_s IS 'Outbound rate it can carry, as given.';
COMMENT ON COLUMN advisor.broker_latest.capacity_cpu_percent IS 'CPU it can spend, as given.';
COMMENT ON COLUMN advisor.broker_latest.configs IS 'Broker configs that matter to advice.';
