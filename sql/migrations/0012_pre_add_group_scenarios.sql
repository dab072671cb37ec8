-- What a group's strategies would do if something happened, and how far each assignment is from the best: NULL in advisories
-- that were stored before, and where a scenario's figures mean nothing (today).

-- Of a rolling restart of 10,000 members with a million partitions more partitions move than an integer holds.

ALTER TABLE store.group_score
    ALTER COLUMN partitions_moved TYPE bigint,
    ADD COLUMN cv_count double precision,
    ADD COLUMN cv_rate double precision,
    ADD COLUMN least_skew_count double precision,
    ADD COLUMN least_skew_rate double precision,
    ADD COLUMN partitions_without_reader integer,
    ADD COLUMN subject text,
    ADD COLUMN variants integer,
    ADD COLUMN mean_partitions_moved double precision,
    ADD COLUMN partitions_revoked bigint,
    ADD COLUMN partitions_unread bigint,
    ADD COLUMN longest_pause_ms bigint,
    ADD COLUMN unread_partition_ms bigint;
