CREATE OR REPLACE VIEW advisor.resource_score_latest AS
SELECT
    newest.time,
    newest.cluster,
    newest.run_id,
    each.resource,
    each.unit,
    each.source,
    each.known_share,
    each.total,
    each.plain_mean,
    each.skew,
    each.worst_broker
FROM store.newest_run AS newest
JOIN store.resource_score AS each
    ON each.run_key = newest.run_key;

COMMENT ON VIEW advisor.resource_score_latest IS 'Skew of each resource over the whole cluster, of the newest published advisory of each cluster.';
COMMENT ON COLUMN advisor.resource_score_latest.time IS 'When the advisory was started.';
COMMENT ON COLUMN advisor.resource_score_latest.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.resource_score_latest.run_id IS 'The advisory that says so.';
COMMENT ON COLUMN advisor.resource_score_latest.resource IS 'disk, in, out, cpu, replicas or leaders.';
COMMENT ON COLUMN advisor.resource_score_latest.unit IS 'Unit of load and level: bytes, bytes/s, percent or count.';
COMMENT ON COLUMN advisor.resource_score_latest.source IS 'Where the load comes from.';
COMMENT ON COLUMN advisor.resource_score_latest.known_share IS 'Share of partitions whose figure is known.';
COMMENT ON COLUMN advisor.resource_score_latest.total IS 'Load of all brokers that stay.';
COMMENT ON COLUMN advisor.resource_score_latest.plain_mean IS 'total / sum of capacities.';
COMMENT ON COLUMN advisor.resource_score_latest.skew IS 'Highest level / plain mean.';
COMMENT ON COLUMN advisor.resource_score_latest.worst_broker IS 'Broker with that level.';
