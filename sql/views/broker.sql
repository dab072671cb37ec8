CREATE OR REPLACE VIEW advisor.broker AS
SELECT
    snapshot.time,
    snapshot.cluster,
    snapshot.snapshot_id,
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
FROM store.snapshot
JOIN store.broker AS each
    ON each.snapshot_key = snapshot.snapshot_key AND each.time = snapshot.time
WHERE snapshot.status = 'passed';

COMMENT ON VIEW advisor.broker IS 'Brokers of every reading; one row a broker.';
COMMENT ON COLUMN advisor.broker.time IS 'When the cluster was read.';
COMMENT ON COLUMN advisor.broker.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.broker.snapshot_id IS 'sha256 of the reading''s content.';
COMMENT ON COLUMN advisor.broker.broker IS 'Broker id.';
COMMENT ON COLUMN advisor.broker.rack IS 'Rack; NULL where the broker has none.';
COMMENT ON COLUMN advisor.broker.host IS 'Advertised host.';
COMMENT ON COLUMN advisor.broker.port IS 'Advertised port.';
COMMENT ON COLUMN advisor.broker.state IS 'alive, new, draining, demoted, fenced or dead (replicas are placed on it, nobody has seen it).';
COMMENT ON COLUMN advisor.broker.is_controller IS 'It was the active controller.';
COMMENT ON COLUMN advisor.broker.capacity_disk_bytes IS 'Disk it can carry, as given; NULL where nobody said.';
COMMENT ON COLUMN advisor.broker.capacity_in_bytes_per_s IS 'Inbound rate it can carry, as given.';
COMMENT ON COLUMN advisor.broker.capacity_out_bytes_per_s IS 'Outbound rate it can carry, as given.';
COMMENT ON COLUMN advisor.broker.capacity_cpu_percent IS 'CPU it can spend, as given.';
COMMENT ON COLUMN advisor.broker.configs IS 'Broker configs that matter to advice.';
