-- Snapshots: one consistent reading of one cluster each. What grows hour by hour is partitioned by week (see 0003).
--
-- Rows of the partitioned tables have no unique keys on purpose: a partition listed twice must reach the input gate,
-- which names it and keeps the evidence, instead of ending a COPY. Their indices serve reading one snapshot.
-- No foreign keys from them either: a snapshot is written in one transaction and pruned by dropping weeks.

CREATE TABLE store.snapshot (
    snapshot_key bigint GENERATED ALWAYS AS IDENTITY,
    snapshot_id text NOT NULL,
    cluster text NOT NULL,
    time timestamptz NOT NULL,
    captured_at text,
    stored_at timestamptz NOT NULL DEFAULT now(),
    source text NOT NULL,
    cluster_id text,
    kafka_version text,
    broker_count integer NOT NULL,
    topic_count integer NOT NULL,
    partition_count integer NOT NULL,
    replica_count integer NOT NULL,
    group_count integer NOT NULL,
    member_count integer NOT NULL,
    gap_count integer NOT NULL,
    status text NOT NULL DEFAULT 'staged',
    is_pruned boolean NOT NULL DEFAULT false,
    CONSTRAINT snapshot_pk PRIMARY KEY (snapshot_key),
    CONSTRAINT snapshot_id_unique UNIQUE (snapshot_id),
    CONSTRAINT snapshot_status_known CHECK (status IN (
        'staged',  -- saved, not yet looked at by the input gate
        'passed',  -- staged -> passed: the gate found nothing that blocks
        'blocked'  -- staged -> blocked: incoherent; kept as evidence, never advised on
    ))
);
-- Newest snapshot of a cluster (queries/snapshot.sql, views *_latest).
CREATE INDEX snapshot_newest ON store.snapshot (cluster, time DESC, snapshot_key DESC);
COMMENT ON TABLE store.snapshot IS 'One consistent reading of one cluster; all rows of a snapshot carry its snapshot_key and time.';

CREATE TABLE store.broker (
    snapshot_key bigint NOT NULL,
    time timestamptz NOT NULL,
    position integer NOT NULL,
    broker integer NOT NULL,
    rack text,
    host text,
    port integer,
    state text NOT NULL,
    is_controller boolean NOT NULL,
    capacity_disk_bytes double precision,
    capacity_in_bytes_per_s double precision,
    capacity_out_bytes_per_s double precision,
    capacity_cpu_percent double precision,
    configs jsonb NOT NULL
) PARTITION BY RANGE (time);
CREATE INDEX broker_of_snapshot ON store.broker (snapshot_key, broker);
COMMENT ON TABLE store.broker IS 'Brokers of a snapshot, dead ones included.';

CREATE TABLE store.log_dir (
    snapshot_key bigint NOT NULL,
    time timestamptz NOT NULL,
    broker integer NOT NULL,
    position integer NOT NULL,
    path text NOT NULL,
    total_bytes bigint,
    usable_bytes bigint,
    error text,
    is_cordoned boolean NOT NULL
) PARTITION BY RANGE (time);
CREATE INDEX log_dir_of_snapshot ON store.log_dir (snapshot_key, broker);
COMMENT ON TABLE store.log_dir IS 'Log directories of brokers; the totals are those of the volume, which other directories may share.';

CREATE TABLE store.topic (
    snapshot_key bigint NOT NULL,
    time timestamptz NOT NULL,
    position integer NOT NULL,
    topic text NOT NULL,
    topic_id text,
    is_internal boolean NOT NULL,
    partition_count integer NOT NULL,
    configs jsonb NOT NULL
) PARTITION BY RANGE (time);
CREATE INDEX topic_of_snapshot ON store.topic (snapshot_key, topic);
COMMENT ON TABLE store.topic IS 'Topics of a snapshot with the configs that matter to advice.';

CREATE TABLE store.partition (
    snapshot_key bigint NOT NULL,
    time timestamptz NOT NULL,
    topic text NOT NULL,
    partition integer NOT NULL,
    replicas integer[] NOT NULL,
    leader integer,
    isr integer[],
    log_bytes bigint[] NOT NULL,
    start_offset bigint,
    end_offset bigint,
    adding integer[],
    removing integer[],
    offline integer[]
) PARTITION BY RANGE (time);
CREATE INDEX partition_of_snapshot ON store.partition (snapshot_key, topic, partition);
COMMENT ON TABLE store.partition IS 'Placement, one row a partition; log_bytes runs along replicas, NULL where a size is unknown.';

CREATE TABLE store.load (
    snapshot_key bigint NOT NULL,
    time timestamptz NOT NULL,
    topic text NOT NULL,
    partition integer NOT NULL,
    log_bytes double precision,
    in_bytes_per_s double precision,
    out_bytes_per_s double precision,
    cpu_percent double precision,
    in_messages_per_s double precision
) PARTITION BY RANGE (time);
CREATE INDEX load_of_snapshot ON store.load (snapshot_key, topic, partition);
COMMENT ON TABLE store.load IS 'What each partition carries at its leader, without replication; NULL is unknown, never zero.';

CREATE TABLE store.load_source (
    snapshot_key bigint NOT NULL,
    kind text NOT NULL,
    source text NOT NULL,
    window_s double precision,
    known_share double precision NOT NULL,
    CONSTRAINT load_source_pk PRIMARY KEY (snapshot_key, kind),
    CONSTRAINT load_source_of_snapshot FOREIGN KEY (snapshot_key) REFERENCES store.snapshot ON DELETE CASCADE
);
COMMENT ON TABLE store.load_source IS 'Where each load column of a snapshot comes from; a kind without a row was measured by nobody.';

CREATE TABLE store.consumer_group (
    snapshot_key bigint NOT NULL,
    time timestamptz NOT NULL,
    position integer NOT NULL,
    group_id text NOT NULL,
    type text NOT NULL,
    protocol_type text NOT NULL,
    protocol text,
    state text,
    generation integer,
    coordinator integer,
    member_count integer NOT NULL
) PARTITION BY RANGE (time);
CREATE INDEX consumer_group_of_snapshot ON store.consumer_group (snapshot_key, group_id);
COMMENT ON TABLE store.consumer_group IS 'Groups of every type; protocol is the assignor''s name.';

CREATE TABLE store.member (
    snapshot_key bigint NOT NULL,
    time timestamptz NOT NULL,
    group_id text NOT NULL,
    position integer NOT NULL,
    member_id text NOT NULL,
    instance_id text,
    client_id text,
    host text,
    rack text,
    subscription text[],
    subscribed_regex text,
    owned jsonb,
    assigned jsonb NOT NULL,
    assigned_count integer NOT NULL,
    target jsonb,
    generation integer,
    user_data bytea,
    decode_error text
) PARTITION BY RANGE (time);
CREATE INDEX member_of_snapshot ON store.member (snapshot_key, group_id);
COMMENT ON TABLE store.member IS 'Members of groups; owned, assigned and target are lists of [topic, [partitions]].';

CREATE TABLE store.committed_offset (
    snapshot_key bigint NOT NULL,
    time timestamptz NOT NULL,
    group_id text NOT NULL,
    position integer NOT NULL,
    topic text NOT NULL,
    partitions integer[] NOT NULL,
    offsets bigint[] NOT NULL,
    CONSTRAINT committed_offset_lengths_equal CHECK (cardinality(partitions) = cardinality(offsets))
) PARTITION BY RANGE (time);
CREATE INDEX committed_offset_of_snapshot ON store.committed_offset (snapshot_key, group_id, topic);
COMMENT ON TABLE store.committed_offset IS 'How far a group has read a topic: offsets runs along partitions.';

CREATE TABLE store.coverage_gap (
    snapshot_key bigint NOT NULL,
    position integer NOT NULL,
    subject_type text NOT NULL,
    subject text NOT NULL,
    what text NOT NULL,
    reason text NOT NULL,
    CONSTRAINT coverage_gap_pk PRIMARY KEY (snapshot_key, position),
    CONSTRAINT coverage_gap_of_snapshot FOREIGN KEY (snapshot_key) REFERENCES store.snapshot ON DELETE CASCADE
);
COMMENT ON TABLE store.coverage_gap IS 'What could not be read, and why.';
