-- Internal: loads, with the size of the leader's replica as a broker gives it where no dump gives one of the partition.
CREATE OR REPLACE VIEW store.sized_load AS
SELECT
    load.snapshot_key,
    load.captured_at,
    load.topic,
    load.partition,
    coalesce(load.log_bytes, (
        SELECT placed.log_bytes[array_position(placed.replicas, placed.leader)]::double precision
        FROM store.partition AS placed
        WHERE placed.snapshot_key = load.snapshot_key AND placed.captured_at = load.captured_at
            AND placed.topic = load.topic AND placed.partition = load.partition
        LIMIT 1
    )) AS log_bytes,
    load.in_bytes_per_s,
    load.out_bytes_per_s,
    load.cpu_percent,
    load.in_messages_per_s
FROM store.load;
