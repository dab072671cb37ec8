CREATE OR REPLACE VIEW advisor.load_history AS
SELECT
    reading.time,
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
JOIN store.load_history AS kept ON kept.snapshot_key = reading.snapshot_key AND kept.time = reading.time
LEFT JOIN store.snapshot ON snapshot.snapshot_key = reading.snapshot_key
WHERE snapshot.status IS NULL OR snapshot.status = 'passed';
