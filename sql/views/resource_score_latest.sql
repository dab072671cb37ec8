CREATE OR REPLACE VIEW advisor.resource_score_latest AS
SELECT
    newest.started_at,
    newest.cluster,
    newest.run_id,
    resource_score.resource,
    resource_score.unit,
    resource_score.source,
    resource_score.known_share,
    resource_score.total,
    resource_score.plain_mean,
    resource_score.skew,
    resource_score.worst_broker
FROM store.newest_run AS newest
JOIN store.resource_score
    ON resource_score.run_key = newest.run_key;

COMMENT ON VIEW advisor.resource_score_latest IS 'Skew of each resource over the whole cluster, of the newest published advisory of each cluster.';
COMMENT ON COLUMN advisor.resource_score_latest.started_at IS 'Start of the advisory.';
COMMENT ON COLUMN advisor.resource_score_latest.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.resource_score_latest.run_id IS 'Id of the advisory.';
COMMENT ON COLUMN advisor.resource_score_latest.resource IS 'disk, in, out, cpu, replicas, leaders, leader_in or potential_out.';
COMMENT ON COLUMN advisor.resource_score_latest.unit IS 'Unit of load and level: bytes, bytes/s, percent or count.';
COMMENT ON COLUMN advisor.resource_score_latest.source IS 'Source of the load.';
COMMENT ON COLUMN advisor.resource_score_latest.known_share IS 'Share of partitions whose figure is known.';
COMMENT ON COLUMN advisor.resource_score_latest.total IS 'Load of all brokers that remain in the cluster.';
COMMENT ON COLUMN advisor.resource_score_latest.plain_mean IS 'total / sum of capacities.';
COMMENT ON COLUMN advisor.resource_score_latest.skew IS 'Highest level / plain mean.';
COMMENT ON COLUMN advisor.resource_score_latest.worst_broker IS 'Broker with that level.';
