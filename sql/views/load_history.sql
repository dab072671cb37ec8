CREATE OR REPLACE VIEW advisor.load_history AS
SELECT
    reading.captured_at,
    reading.cluster,
    snapshot.snapshot_id,
    kept.topic,
    kept.topic_id,
    kept.in_bytes_per_s,
    kept.out_bytes_per_s,
    kept.cpu_percent,
    kept.in_messages_per_s,
    reading.in_bytes_window_s AS window_s
FROM store.load_reading AS reading
JOIN store.load_history AS kept ON kept.snapshot_key = reading.snapshot_key AND kept.captured_at = reading.captured_at
LEFT JOIN store.snapshot ON snapshot.snapshot_key = reading.snapshot_key
WHERE snapshot.status IS NULL OR snapshot.status = 'passed';

COMMENT ON VIEW advisor.load_history IS 'Rates of each topic in the snapshots of the last 35 days; one row a topic, arrays by partition number.';
COMMENT ON COLUMN advisor.load_history.captured_at IS 'Time of the snapshot.';
COMMENT ON COLUMN advisor.load_history.cluster IS 'Name of the cluster, as clusters.toml or the snapshot gives it.';
COMMENT ON COLUMN advisor.load_history.snapshot_id IS 'sha256 of the snapshot''s content.';
COMMENT ON COLUMN advisor.load_history.topic IS 'Topic.';
COMMENT ON COLUMN advisor.load_history.topic_id IS 'Kafka''s id of the topic; another one after it was created again.';
COMMENT ON COLUMN advisor.load_history.in_bytes_per_s IS 'Written to each partition''s leader; NULL is unknown.';
COMMENT ON COLUMN advisor.load_history.out_bytes_per_s IS 'Fetched by consumers from each leader, without replication.';
COMMENT ON COLUMN advisor.load_history.cpu_percent IS 'CPU of each leader.';
COMMENT ON COLUMN advisor.load_history.in_messages_per_s IS 'Messages written to each leader.';
COMMENT ON COLUMN advisor.load_history.window_s IS 'Seconds before the snapshot over which in_bytes_per_s was measured.';
