CREATE OR REPLACE VIEW advisor.resource_score AS
SELECT
    run.started_at,
    run.cluster,
    run.run_id,
    resource_score.resource,
    resource_score.unit,
    resource_score.source,
    resource_score.known_share,
    resource_score.total,
    resource_score.plain_mean,
    resource_score.skew,
    resource_score.worst_broker
FROM store.run
JOIN store.resource_score
    ON resource_score.run_key = run.run_key
WHERE run.status = 'published';

COMMENT ON VIEW advisor.resource_score IS 'Skew of each resource over the whole cluster, in every published advisory.';
COMMENT ON COLUMN advisor.resource_score.started_at IS 'Start of the advisory.';
COMMENT ON COLUMN advisor.resource_score.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.resource_score.run_id IS 'Id of the advisory.';
COMMENT ON COLUMN advisor.resource_score.resource IS 'disk, in, out, cpu, replicas, leaders, leader_in or potential_out.';
COMMENT ON COLUMN advisor.resource_score.unit IS 'Unit of load and level: bytes, bytes/s, percent or count.';
COMMENT ON COLUMN advisor.resource_score.source IS 'Source of the load.';
COMMENT ON COLUMN advisor.resource_score.known_share IS 'Share of partitions whose figure is known.';
COMMENT ON COLUMN advisor.resource_score.total IS 'Load of all brokers that remain in the cluster.';
COMMENT ON COLUMN advisor.resource_score.plain_mean IS 'total / sum of capacities.';
COMMENT ON COLUMN advisor.resource_score.skew IS 'Highest level / plain mean.';
COMMENT ON COLUMN advisor.resource_score.worst_broker IS 'Broker with that level.';
