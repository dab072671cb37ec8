CREATE OR REPLACE VIEW advisor.resource_score AS
SELECT
    run.time,
    run.cluster,
    run.run_id,
    each.resource,
    each.unit,
    each.source,
    each.known_share,
    each.total,
    each.plain_mean,
    each.skew,
    each.worst_broker
FROM store.run
JOIN store.resource_score AS each
    ON each.run_key = run.run_key
WHERE run.status = 'published';

COMMENT ON VIEW advisor.resource_score IS 'Skew of each resource over the whole cluster, in every published advisory.';
COMMENT ON COLUMN advisor.resource_score.time IS 'When the advisory was started.';
COMMENT ON COLUMN advisor.resource_score.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.resource_score.run_id IS 'The advisory that says so.';
COMMENT ON COLUMN advisor.resource_score.resource IS 'disk, in, out, cpu, replicas or leaders.';
COMMENT ON COLUMN advisor.resource_score.unit IS 'Unit of load and level: bytes, bytes/s, percent or count.';
COMMENT ON COLUMN advisor.resource_score.source IS 'Where the load comes from.';
COMMENT ON COLUMN advisor.resource_score.known_share IS 'Share of partitions whose figure is known.';
COMMENT ON COLUMN advisor.resource_score.total IS 'Load of all brokers that stay.';
COMMENT ON COLUMN advisor.resource_score.plain_mean IS 'total / sum of capacities.';
COMMENT ON COLUMN advisor.resource_score.skew IS 'Highest level / plain mean.';
COMMENT ON COLUMN advisor.resource_score.worst_broker IS 'Broker with that level.';
