-- What newer releases tell of groups (streams and share groups, epochs, configs), of replicas (log dirs, copies in the
-- making, eligible leaders) and of the cluster (features, quotas). NULL in readings that were stored before.

ALTER TABLE store.snapshot ADD COLUMN features jsonb, ADD COLUMN quotas jsonb;

ALTER TABLE store.partition
    ADD COLUMN eligible integer[],
    ADD COLUMN log_dirs integer[],
    ADD COLUMN future jsonb,
    ADD COLUMN local_start_offset bigint;

ALTER TABLE store.consumer_group
    ADD COLUMN assignment_epoch integer,
    ADD COLUMN subtopologies jsonb,
    ADD COLUMN configs jsonb;

ALTER TABLE store.member
    ADD COLUMN is_classic boolean,
    ADD COLUMN process_id text,
    ADD COLUMN tasks jsonb,
    ADD COLUMN target_tasks jsonb;

-- Along partitions; NULL where the lag is the end minus the offset.
ALTER TABLE store.committed_offset
    ADD COLUMN lags bigint[],
    ADD CONSTRAINT committed_offset_lags_equal CHECK (cardinality(lags) = cardinality(partitions));
