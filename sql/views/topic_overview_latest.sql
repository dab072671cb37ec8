-- One wide row a topic: size, rates, its hottest partition, safety, readers, and the worst that was found.
CREATE OR REPLACE VIEW advisor.topic_overview_latest AS
SELECT
    newest.captured_at,
    newest.cluster,
    newest.snapshot_id,
    topic.topic,
    topic.is_internal,
    topic.partition_count,
    placed.replication_factor,
    placed.under_replicated,
    placed.log_bytes,
    rated.in_bytes_per_s,
    rated.out_bytes_per_s,
    rated.hottest_to_mean_ratio,
    readers.groups AS group_count,
    coalesce(found.findings, 0) AS finding_count,
    found.worst_severity,
    found.worst_code AS worst_finding_code,
    readers.lag_messages,
    CASE WHEN readers.lag_messages IS NOT NULL THEN readers.group_id END AS lag_group_id
FROM store.newest_snapshot AS newest
JOIN store.topic
    ON topic.snapshot_key = newest.snapshot_key AND topic.captured_at = newest.captured_at
LEFT JOIN LATERAL (
    SELECT
        -- A table of groups alone has no replicas.
        nullif(min(cardinality(partition.replicas)), 0) AS replication_factor,
        CASE WHEN bool_and(partition.isr IS NOT NULL AND cardinality(partition.replicas) > 0)
            THEN count(*) FILTER (WHERE cardinality(partition.isr) < cardinality(partition.replicas)) END AS under_replicated,
        -- Replicas of a partition differ by what was deleted: the leader's size is that of the partition.
        CASE WHEN bool_and(partition.log_bytes[array_position(partition.replicas, partition.leader)] IS NOT NULL)
            THEN sum(partition.log_bytes[array_position(partition.replicas, partition.leader)])::bigint END AS log_bytes
    FROM store.partition
    WHERE partition.snapshot_key = newest.snapshot_key AND partition.captured_at = newest.captured_at
        AND partition.topic = topic.topic
) AS placed ON true
LEFT JOIN LATERAL (
    SELECT
        CASE WHEN bool_and(load.in_bytes_per_s IS NOT NULL) THEN sum(load.in_bytes_per_s) END AS in_bytes_per_s,
        CASE WHEN bool_and(load.out_bytes_per_s IS NOT NULL) THEN sum(load.out_bytes_per_s) END AS out_bytes_per_s,
        max(load.in_bytes_per_s) / nullif(avg(load.in_bytes_per_s), 0) AS hottest_to_mean_ratio
    FROM store.load
    WHERE load.snapshot_key = newest.snapshot_key AND load.captured_at = newest.captured_at AND load.topic = topic.topic
) AS rated ON true
LEFT JOIN (
    SELECT
        cluster,
        topic,
        count(*) AS groups,
        max(lag_messages) AS lag_messages,
        (array_agg(group_id ORDER BY lag_messages DESC NULLS LAST, group_id))[1] AS group_id
    FROM advisor.group_lag_latest
    GROUP BY cluster, topic
) AS readers ON readers.cluster = newest.cluster AND readers.topic = topic.topic
LEFT JOIN store.finding_subject AS found
    ON found.cluster = newest.cluster AND found.subject_type = 'topic' AND found.subject = topic.topic;
COMMENT ON VIEW advisor.topic_overview_latest IS 'Topics of the newest snapshot with size, rates, replicas, readers and worst finding.';
COMMENT ON COLUMN advisor.topic_overview_latest.captured_at IS 'Time of the snapshot.';
COMMENT ON COLUMN advisor.topic_overview_latest.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.topic_overview_latest.snapshot_id IS 'Id of the snapshot.';
COMMENT ON COLUMN advisor.topic_overview_latest.topic IS 'Topic.';
COMMENT ON COLUMN advisor.topic_overview_latest.is_internal IS 'True for a topic of Kafka itself.';
COMMENT ON COLUMN advisor.topic_overview_latest.partition_count IS 'Partitions.';
COMMENT ON COLUMN advisor.topic_overview_latest.replication_factor IS 'Replicas of the partition that has the fewest; NULL: unknown.';
COMMENT ON COLUMN advisor.topic_overview_latest.under_replicated IS 'Partitions whose ISR is smaller than their replicas; NULL: unknown.';
COMMENT ON COLUMN advisor.topic_overview_latest.log_bytes IS 'Bytes of all its partitions, each counted once (its leader''s log); NULL: one of them is unknown.';
COMMENT ON COLUMN advisor.topic_overview_latest.in_bytes_per_s IS 'Bytes/s that producers write; NULL: unknown.';
COMMENT ON COLUMN advisor.topic_overview_latest.out_bytes_per_s IS 'Bytes/s that consumers read; NULL: unknown.';
COMMENT ON COLUMN advisor.topic_overview_latest.hottest_to_mean_ratio IS 'Bytes/s written to its hottest partition to the mean of its partitions; NULL: unknown.';
COMMENT ON COLUMN advisor.topic_overview_latest.group_count IS 'Groups that have committed offsets of it; NULL: none.';
COMMENT ON COLUMN advisor.topic_overview_latest.finding_count IS 'Findings of the newest advisory about it or a partition of it, or that explain something of these; muted ones are left out.';
COMMENT ON COLUMN advisor.topic_overview_latest.worst_severity IS 'Severity of the worst of them; NULL: none.';
COMMENT ON COLUMN advisor.topic_overview_latest.worst_finding_code IS 'Code of the worst of them.';
COMMENT ON COLUMN advisor.topic_overview_latest.lag_messages IS 'Messages in it that the group furthest behind has not read; NULL: unknown, or no group.';
COMMENT ON COLUMN advisor.topic_overview_latest.lag_group_id IS 'That group.';
