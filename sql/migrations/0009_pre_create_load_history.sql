-- Hourly loads for windows of history: what each reading measured, in arrays over a topic's partitions, for 35 days.
-- Apart from the readings themselves, whose time to be kept is another one.

CREATE TABLE store.load_reading (
    snapshot_key bigint NOT NULL,
    cluster text NOT NULL,
    time timestamptz NOT NULL,
    in_bytes_window_s double precision,
    out_bytes_window_s double precision,
    cpu_window_s double precision,
    in_messages_window_s double precision,
    CONSTRAINT load_reading_pk PRIMARY KEY (snapshot_key)
);
-- Readings of one cluster's window, in order (queries/history.sql).
CREATE INDEX load_reading_of_cluster ON store.load_reading (cluster, time);
COMMENT ON TABLE store.load_reading IS 'Readings whose rates are kept, with the seconds over which each kind was measured; NULL: not measured.';

CREATE TABLE store.load_history (
    snapshot_key bigint NOT NULL,
    time timestamptz NOT NULL,
    topic text NOT NULL,
    topic_id text,
    in_bytes_per_s real[],
    out_bytes_per_s real[],
    cpu_percent real[],
    in_messages_per_s real[]
) PARTITION BY RANGE (time);
-- One reading of a window (queries/history.sql).
CREATE INDEX load_history_of_reading ON store.load_history (snapshot_key);
COMMENT ON TABLE store.load_history IS 'What a reading measured of a topic: arrays by partition number; NULL is unknown, never zero.';
