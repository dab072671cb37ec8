-- Logs that no replica list has, of which dumps of log dirs tell: they take disk, and no plan moves them.
ALTER TABLE store.log_dir
    ADD COLUMN stray_logs bigint NOT NULL DEFAULT 0,
    ADD COLUMN stray_bytes bigint NOT NULL DEFAULT 0,
    ADD COLUMN largest_stray text;
