-- One wide row a broker: what it carries, how full it is now and after the plan, and the worst that was found.
CREATE OR REPLACE VIEW advisor.broker_overview_latest AS
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
    disk.used_bytes,
    disk.total_bytes,
    disk.used_bytes / nullif(disk.total_bytes, 0) AS used_ratio,
    (disk.used_bytes + planned.disk_bytes) / nullif(disk.total_bytes, 0) AS used_ratio_with_plan,
    level.disk_bytes,
    level.disk_to_mean_ratio,
    level.in_bytes_per_s,
    level.in_to_mean_ratio,
    level.out_bytes_per_s,
    level.out_to_mean_ratio,
    coalesce(placed.replicas, 0) AS replica_count,
    level.replicas_to_mean_ratio,
    coalesce(placed.leaders, 0) AS leader_count,
    level.leaders_to_mean_ratio,
    coalesce(found.findings, 0) AS finding_count,
    found.worst_severity,
    found.worst_code AS worst_finding_code
FROM store.newest_snapshot AS newest
JOIN store.broker
    ON broker.snapshot_key = newest.snapshot_key AND broker.captured_at = newest.captured_at
LEFT JOIN LATERAL (
    SELECT
        max(load) FILTER (WHERE resource = 'disk') AS disk_bytes,
        max(capacity) FILTER (WHERE resource = 'disk') AS disk_capacity,
        max(level_to_mean_ratio) FILTER (WHERE resource = 'disk') AS disk_to_mean_ratio,
        max(load) FILTER (WHERE resource = 'in') AS in_bytes_per_s,
        max(level_to_mean_ratio) FILTER (WHERE resource = 'in') AS in_to_mean_ratio,
        max(load) FILTER (WHERE resource = 'out') AS out_bytes_per_s,
        max(level_to_mean_ratio) FILTER (WHERE resource = 'out') AS out_to_mean_ratio,
        max(level_to_mean_ratio) FILTER (WHERE resource = 'replicas') AS replicas_to_mean_ratio,
        max(level_to_mean_ratio) FILTER (WHERE resource = 'leaders') AS leaders_to_mean_ratio
    FROM store.broker_level
    WHERE broker_level.snapshot_key = newest.snapshot_key AND broker_level.captured_at = newest.captured_at
        AND broker_level.broker = broker.broker
) AS level ON true
-- Levels count running reassignments as done; a broker holds what is listed.
LEFT JOIN (
    SELECT
        read.cluster,
        replica.broker,
        count(*) AS replicas,
        count(*) FILTER (WHERE held.leader = replica.broker) AS leaders
    FROM store.newest_snapshot AS read
    JOIN store.partition AS held
        ON held.snapshot_key = read.snapshot_key AND held.captured_at = read.captured_at
    CROSS JOIN LATERAL unnest(held.replicas) AS replica (broker)
    GROUP BY read.cluster, replica.broker
) AS placed ON placed.cluster = newest.cluster AND placed.broker = broker.broker
-- Log dirs of equal total and equal free bytes are on one volume.
LEFT JOIN LATERAL (
    SELECT
        sum(one.total_bytes - one.usable_bytes)::double precision AS used_bytes,
        sum(one.total_bytes)::double precision AS total_bytes
    FROM (
        SELECT DISTINCT log_dir.total_bytes, log_dir.usable_bytes
        FROM store.log_dir
        WHERE log_dir.snapshot_key = newest.snapshot_key AND log_dir.captured_at = newest.captured_at
            AND log_dir.broker = broker.broker AND log_dir.total_bytes > 0 AND log_dir.usable_bytes IS NOT NULL
    ) AS one
) AS volume ON true
LEFT JOIN LATERAL (
    SELECT sum(log_dir.stray_bytes)::double precision AS bytes
    FROM store.log_dir
    WHERE log_dir.snapshot_key = newest.snapshot_key AND log_dir.captured_at = newest.captured_at AND log_dir.broker = broker.broker
) AS stray ON true
-- A given capacity outranks the volumes, as in plans and findings, where the sizes of all replicas are known.
CROSS JOIN LATERAL (
    SELECT
        volume.total_bytes IS NULL OR (broker.capacity_disk_bytes IS NOT NULL AND level.disk_bytes IS NOT NULL) AS is_by_replicas
) AS basis
CROSS JOIN LATERAL (
    SELECT
        CASE WHEN basis.is_by_replicas THEN level.disk_bytes + coalesce(stray.bytes, 0) ELSE volume.used_bytes END AS used_bytes,
        CASE WHEN basis.is_by_replicas THEN coalesce(broker.capacity_disk_bytes, level.disk_capacity) ELSE volume.total_bytes
            END AS total_bytes
) AS disk
LEFT JOIN LATERAL (
    SELECT plan_broker.load_after - plan_broker.load_before AS disk_bytes
    FROM store.newest_run AS newest_run
    JOIN store.plan_broker
        ON plan_broker.run_key = newest_run.run_key AND plan_broker.started_at = newest_run.started_at
    WHERE newest_run.cluster = newest.cluster AND plan_broker.broker = broker.broker AND plan_broker.resource = 'disk'
) AS planned ON true
LEFT JOIN store.finding_subject AS found
    ON found.cluster = newest.cluster AND found.subject_type = 'broker' AND found.subject = broker.broker::text;
COMMENT ON VIEW advisor.broker_overview_latest IS 'Brokers of the newest snapshot with their load, disk now and after the newest plan, and worst finding.';
COMMENT ON COLUMN advisor.broker_overview_latest.captured_at IS 'Time of the snapshot.';
COMMENT ON COLUMN advisor.broker_overview_latest.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.broker_overview_latest.snapshot_id IS 'Id of the snapshot.';
COMMENT ON COLUMN advisor.broker_overview_latest.broker IS 'Broker id.';
COMMENT ON COLUMN advisor.broker_overview_latest.rack IS 'Rack; NULL: none.';
COMMENT ON COLUMN advisor.broker_overview_latest.host IS 'Advertised host; NULL: unknown.';
COMMENT ON COLUMN advisor.broker_overview_latest.port IS 'Advertised port; NULL: unknown.';
COMMENT ON COLUMN advisor.broker_overview_latest.state IS 'alive, new, draining or demoted; unresponsive, refused, silent or disconnected (not reached); fenced or dead.';
COMMENT ON COLUMN advisor.broker_overview_latest.is_controller IS 'True for the active controller.';
COMMENT ON COLUMN advisor.broker_overview_latest.used_bytes IS 'Bytes of its replicas and stray logs in a given capacity, else used bytes of its volumes; the former if no volume is known.';
COMMENT ON COLUMN advisor.broker_overview_latest.total_bytes IS 'Given capacity, else size of these volumes; NULL: unknown.';
COMMENT ON COLUMN advisor.broker_overview_latest.used_ratio IS 'used_bytes / total_bytes.';
COMMENT ON COLUMN advisor.broker_overview_latest.used_ratio_with_plan IS 'The same after the newest plan; NULL: unknown, or no plan.';
COMMENT ON COLUMN advisor.broker_overview_latest.disk_bytes IS 'Bytes of its replicas.';
COMMENT ON COLUMN advisor.broker_overview_latest.disk_to_mean_ratio IS 'Disk level, a share of capacity where all capacities are known, to the mean of all brokers.';
COMMENT ON COLUMN advisor.broker_overview_latest.in_bytes_per_s IS 'Bytes/s written to it, copies of other leaders with them; NULL: unknown.';
COMMENT ON COLUMN advisor.broker_overview_latest.in_to_mean_ratio IS 'Its level to the mean of all brokers.';
COMMENT ON COLUMN advisor.broker_overview_latest.out_bytes_per_s IS 'Bytes/s that it sends to consumers and followers; NULL: unknown.';
COMMENT ON COLUMN advisor.broker_overview_latest.out_to_mean_ratio IS 'Its level to the mean of all brokers.';
COMMENT ON COLUMN advisor.broker_overview_latest.replica_count IS 'Replicas on it now, those that a running reassignment adds or removes with them.';
COMMENT ON COLUMN advisor.broker_overview_latest.replicas_to_mean_ratio IS 'Its level to the mean of all brokers, running reassignments done.';
COMMENT ON COLUMN advisor.broker_overview_latest.leader_count IS 'Partitions that it leads now.';
COMMENT ON COLUMN advisor.broker_overview_latest.leaders_to_mean_ratio IS 'Its level to the mean of all brokers, running reassignments done.';
COMMENT ON COLUMN advisor.broker_overview_latest.finding_count IS 'Findings of the newest advisory about it, or that explain something of it; muted ones are left out.';
COMMENT ON COLUMN advisor.broker_overview_latest.worst_severity IS 'Severity of the worst of them; NULL: none.';
COMMENT ON COLUMN advisor.broker_overview_latest.worst_finding_code IS 'Code of the worst of them.';
