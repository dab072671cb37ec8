-- The whole schema: snapshots, loads over time, advisories, outcomes of plans, and the advisor's own health. Views are in
-- sql/views, rights in sql/roles.sql.
--
-- Every time is UTC. NULL is unknown, never zero. Bytes are bytes, rates are per second.
--
-- Tables that grow with every snapshot or advisory are partitioned by week; the functions at the end make, sweep and drop
-- weeks. Those tables have no unique keys on purpose: a partition listed twice must reach the input gate, which names it and
-- keeps the evidence, instead of ending a COPY. They have no foreign keys either: a snapshot is written in one transaction
-- and pruned by the week. Their index serves reading one snapshot or one run whole.

-- Snapshots ----------------------------------------------------------------------------------------------------------

CREATE TABLE store.snapshot (
    snapshot_key bigint GENERATED ALWAYS AS IDENTITY,
    snapshot_id text NOT NULL,  -- sha256 of the whole snapshot: the same content is stored once
    cluster text NOT NULL,
    cluster_id text,
    captured_at timestamptz NOT NULL,  -- of the input; time of saving if the input has none
    captured_at_text text,  -- as in the snapshot document; snapshot_id is a hash of it, too
    stored_at timestamptz NOT NULL DEFAULT now(),
    source text NOT NULL,
    kafka_version text,
    features jsonb,
    quotas jsonb,
    broker_count integer NOT NULL,
    topic_count integer NOT NULL,
    partition_count integer NOT NULL,
    replica_count integer NOT NULL,
    group_count integer NOT NULL,
    member_count integer NOT NULL,
    gap_count integer NOT NULL,
    status text NOT NULL DEFAULT 'staged',
    is_pruned boolean NOT NULL DEFAULT false,  -- its rows go with the next sweep of their week, or are gone
    CONSTRAINT snapshot_pk PRIMARY KEY (snapshot_key),
    CONSTRAINT snapshot_id_unique UNIQUE (snapshot_id),
    CONSTRAINT snapshot_status_known CHECK (status IN (
        'staged',  -- saved, not yet judged by the input gate
        'passed',  -- staged -> passed: the gate found nothing that blocks
        'blocked'  -- staged -> blocked: incoherent; kept as evidence, never used by an advisory
    ))
);
-- Newest snapshot of a cluster (queries/snapshot.sql, views *_latest).
CREATE INDEX snapshot_newest ON store.snapshot (cluster, captured_at DESC, snapshot_key DESC);
-- Snapshots of a week, of all clusters (kept_readings, sweep_week).
CREATE INDEX snapshot_by_time ON store.snapshot (captured_at);
COMMENT ON TABLE store.snapshot IS 'One consistent snapshot of one cluster; all its rows carry its snapshot_key and captured_at.';

CREATE TABLE store.broker (
    snapshot_key bigint NOT NULL,
    captured_at timestamptz NOT NULL,
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
) PARTITION BY RANGE (captured_at);
CREATE INDEX broker_of_snapshot ON store.broker (snapshot_key, broker);
COMMENT ON TABLE store.broker IS 'Brokers of a snapshot, dead ones included.';

CREATE TABLE store.log_dir (
    snapshot_key bigint NOT NULL,
    captured_at timestamptz NOT NULL,
    broker integer NOT NULL,
    position integer NOT NULL,
    path text NOT NULL,
    total_bytes bigint,
    usable_bytes bigint,
    error text,
    is_cordoned boolean NOT NULL,
    stray_logs bigint NOT NULL DEFAULT 0,  -- logs that belong to no replica list: they use disk, and no plan moves them
    stray_bytes bigint NOT NULL DEFAULT 0,
    largest_stray text
) PARTITION BY RANGE (captured_at);
CREATE INDEX log_dir_of_snapshot ON store.log_dir (snapshot_key, broker);
COMMENT ON TABLE store.log_dir IS 'Log directories of brokers; the totals are those of the volume, which other directories may share.';

CREATE TABLE store.topic (
    snapshot_key bigint NOT NULL,
    captured_at timestamptz NOT NULL,
    position integer NOT NULL,
    topic text NOT NULL,
    topic_id text,
    is_internal boolean NOT NULL,
    partition_count integer NOT NULL,
    configs jsonb NOT NULL
) PARTITION BY RANGE (captured_at);
CREATE INDEX topic_of_snapshot ON store.topic (snapshot_key, topic);
COMMENT ON TABLE store.topic IS 'Topics of a snapshot with the configs that matter to advice.';

-- Lists are arrays: a million replicas are a third of a million rows.
CREATE TABLE store.partition (
    snapshot_key bigint NOT NULL,
    captured_at timestamptz NOT NULL,
    topic text NOT NULL,
    partition integer NOT NULL,
    replicas integer[] NOT NULL,
    leader integer,
    isr integer[],
    log_bytes bigint[] NOT NULL,
    log_dirs integer[],  -- log_dir.position of each replica; NULL where every broker has one log dir
    future jsonb,  -- copies between the log dirs of one broker that are under way
    start_offset bigint,
    local_start_offset bigint,  -- of a tiered topic: first offset on the leader's own disk
    end_offset bigint,
    adding integer[],
    removing integer[],
    offline integer[],
    observers integer[],  -- Confluent: replicas that copy without being needed in the ISR; they lead nothing
    eligible integer[]  -- KIP-966: replicas that may become leader once the ISR is empty
) PARTITION BY RANGE (captured_at);
CREATE INDEX partition_of_snapshot ON store.partition (snapshot_key, topic, partition);
COMMENT ON TABLE store.partition IS 'Placement, one row a partition; log_bytes runs along replicas, NULL where a size is unknown.';

CREATE TABLE store.load (
    snapshot_key bigint NOT NULL,
    captured_at timestamptz NOT NULL,
    topic text NOT NULL,
    partition integer NOT NULL,
    log_bytes double precision,
    in_bytes_per_s double precision,
    out_bytes_per_s double precision,
    cpu_percent double precision,
    in_messages_per_s double precision
) PARTITION BY RANGE (captured_at);
CREATE INDEX load_of_snapshot ON store.load (snapshot_key, topic, partition);
COMMENT ON TABLE store.load IS 'Load of each partition at its leader, without replication; NULL is unknown, never zero.';

CREATE TABLE store.load_source (
    snapshot_key bigint NOT NULL,
    kind text NOT NULL,
    source text NOT NULL,
    window_s double precision,
    known_share double precision NOT NULL,
    CONSTRAINT load_source_pk PRIMARY KEY (snapshot_key, kind),
    CONSTRAINT load_source_of_snapshot FOREIGN KEY (snapshot_key) REFERENCES store.snapshot ON DELETE CASCADE
);
COMMENT ON TABLE store.load_source IS 'Source of each load column of a snapshot; a kind without a row is unknown.';

CREATE TABLE store.consumer_group (
    snapshot_key bigint NOT NULL,
    captured_at timestamptz NOT NULL,
    position integer NOT NULL,
    group_id text NOT NULL,
    type text NOT NULL,
    protocol_type text NOT NULL,
    protocol text,
    state text,
    generation integer,
    assignment_epoch integer,
    coordinator integer,
    member_count integer NOT NULL,
    stated_member_count integer,
    client text,
    client_version text,
    subtopologies jsonb,
    configs jsonb
) PARTITION BY RANGE (captured_at);
CREATE INDEX consumer_group_of_snapshot ON store.consumer_group (snapshot_key, group_id);
COMMENT ON TABLE store.consumer_group IS 'Groups of every type; protocol is the assignor''s name.';
COMMENT ON COLUMN store.consumer_group.stated_member_count IS
    'Members as the source counts them; NULL where it shows each one. member_count is the larger of this and the rows.';
COMMENT ON COLUMN store.consumer_group.client IS 'Client library of its members, where the input names it.';
COMMENT ON COLUMN store.consumer_group.client_version IS 'Version of the client library.';

CREATE TABLE store.member (
    snapshot_key bigint NOT NULL,
    captured_at timestamptz NOT NULL,
    group_id text NOT NULL,
    position integer NOT NULL,
    member_id text NOT NULL,
    instance_id text,
    client_id text,
    host text,
    rack text,
    subscription text[],
    subscribed_regex text,
    subscription_version integer,  -- of the bytes that a classic member joined with: tells clients and releases apart
    owned jsonb,
    assigned jsonb,
    assigned_count integer NOT NULL,
    partition_count integer,
    target jsonb,
    generation integer,
    is_classic boolean,  -- KIP-848: the member still speaks the classic protocol
    process_id text,  -- this column and the four of tasks: streams groups alone
    tasks jsonb,
    target_tasks jsonb,
    task_offsets jsonb,  -- [[subtopology, [[partition, sum of changelog offsets]]]], NULL where it is not told
    task_end_offsets jsonb,
    worker jsonb,  -- Kafka Connect's workers alone
    user_data bytea,
    decode_error text
) PARTITION BY RANGE (captured_at);
CREATE INDEX member_of_snapshot ON store.member (snapshot_key, group_id);
COMMENT ON TABLE store.member IS 'Members of groups; owned, assigned and target are lists of [topic, [partitions]].';
COMMENT ON COLUMN store.member.partition_count IS
    'Partitions as the source counts them; NULL where it shows each one. assigned is NULL where it shows none of them.';

CREATE TABLE store.committed_offset (
    snapshot_key bigint NOT NULL,
    captured_at timestamptz NOT NULL,
    group_id text NOT NULL,
    position integer NOT NULL,
    topic text NOT NULL,
    partitions integer[] NOT NULL,
    offsets bigint[] NOT NULL,
    lags bigint[],  -- NULL where the lag is the end minus the offset
    read_messages_per_s double precision[],  -- NULL where no rate is known
    CONSTRAINT committed_offset_lengths_equal CHECK (cardinality(partitions) = cardinality(offsets)),
    CONSTRAINT committed_offset_lags_equal CHECK (cardinality(lags) = cardinality(partitions)),
    CONSTRAINT committed_offset_reads_equal CHECK (cardinality(read_messages_per_s) = cardinality(partitions))
) PARTITION BY RANGE (captured_at);
CREATE INDEX committed_offset_of_snapshot ON store.committed_offset (snapshot_key, group_id, topic);
COMMENT ON TABLE store.committed_offset IS 'Committed offsets of a group and topic: offsets runs along partitions.';

CREATE TABLE store.coverage_gap (
    snapshot_key bigint NOT NULL,
    position integer NOT NULL,
    subject_type text NOT NULL,
    subject text NOT NULL,
    missing_code text NOT NULL,
    missing_args jsonb NOT NULL,
    reason_code text NOT NULL,
    reason_args jsonb NOT NULL,
    CONSTRAINT coverage_gap_pk PRIMARY KEY (snapshot_key, position),
    CONSTRAINT coverage_gap_of_snapshot FOREIGN KEY (snapshot_key) REFERENCES store.snapshot ON DELETE CASCADE
);
COMMENT ON TABLE store.coverage_gap IS 'Coverage gaps: data that could not be read, and why.';

CREATE TABLE store.quarantine (
    snapshot_key bigint NOT NULL,
    subject_type text NOT NULL,
    subject text NOT NULL,
    rule text NOT NULL,
    CONSTRAINT quarantine_pk PRIMARY KEY (snapshot_key, subject_type, subject, rule),
    CONSTRAINT quarantine_of_snapshot FOREIGN KEY (snapshot_key) REFERENCES store.snapshot ON DELETE CASCADE
);
COMMENT ON TABLE store.quarantine IS 'Subjects of a snapshot that advisories leave out.';

-- Loads and levels over time -----------------------------------------------------------------------------------------

-- Hourly loads for windows of history: rates of each snapshot, kept for 35 days, however long the snapshot itself is kept.
CREATE TABLE store.load_reading (
    snapshot_key bigint NOT NULL,
    cluster text NOT NULL,
    captured_at timestamptz NOT NULL,
    in_bytes_window_s double precision,
    out_bytes_window_s double precision,
    cpu_window_s double precision,
    in_messages_window_s double precision,
    CONSTRAINT load_reading_pk PRIMARY KEY (snapshot_key)
);
-- Snapshots of one cluster's window, in order (queries/history.sql).
CREATE INDEX load_reading_of_cluster ON store.load_reading (cluster, captured_at);
COMMENT ON TABLE store.load_reading IS 'Snapshots whose rates are kept, with the seconds over which each kind was measured; NULL: not measured.';

CREATE TABLE store.load_history (
    snapshot_key bigint NOT NULL,
    captured_at timestamptz NOT NULL,
    topic text NOT NULL,
    topic_id text,
    in_bytes_per_s real[],
    out_bytes_per_s real[],
    cpu_percent real[],
    in_messages_per_s real[]
) PARTITION BY RANGE (captured_at);
-- One snapshot of a window (queries/history.sql).
CREATE INDEX load_history_of_reading ON store.load_history (snapshot_key);
COMMENT ON TABLE store.load_history IS 'Rates of a topic in a snapshot: arrays by partition number; NULL is unknown, never zero.';

CREATE TABLE store.broker_level (
    snapshot_key bigint NOT NULL,
    captured_at timestamptz NOT NULL,
    broker integer NOT NULL,
    rack text,
    resource text NOT NULL,
    unit text NOT NULL,
    load double precision NOT NULL,
    capacity double precision,
    level double precision NOT NULL,
    level_to_mean_ratio double precision NOT NULL,
    remains_in_cluster boolean NOT NULL
) PARTITION BY RANGE (captured_at);
CREATE INDEX broker_level_of_snapshot ON store.broker_level (snapshot_key, broker, resource);
COMMENT ON TABLE store.broker_level IS 'Load and level of each broker and resource in a snapshot, scored as an advisory does.';

CREATE TABLE store.resource_skew (
    snapshot_key bigint NOT NULL,
    captured_at timestamptz NOT NULL,
    resource text NOT NULL,
    unit text NOT NULL,
    total double precision NOT NULL,
    skew double precision NOT NULL,
    worst_broker integer
) PARTITION BY RANGE (captured_at);
CREATE INDEX resource_skew_of_snapshot ON store.resource_skew (snapshot_key, resource);
COMMENT ON TABLE store.resource_skew IS 'Skew of each resource in a snapshot.';

CREATE TABLE store.group_lag (
    snapshot_key bigint NOT NULL,
    captured_at timestamptz NOT NULL,
    group_id text NOT NULL,
    lag_messages bigint NOT NULL
) PARTITION BY RANGE (captured_at);
CREATE INDEX group_lag_of_snapshot ON store.group_lag (snapshot_key, group_id);
COMMENT ON TABLE store.group_lag IS 'Lag of a group in all its topics, in a snapshot; no row where it is unknown.';

-- Roll-ups: a row an hour or a day, computed again whenever one of its snapshots passes the gate. They are kept longer than
-- snapshots.
CREATE TABLE store.skew_hour (
    cluster text NOT NULL,
    period_start timestamptz NOT NULL,
    resource text NOT NULL,
    unit text NOT NULL,
    snapshot_count integer NOT NULL,
    total double precision NOT NULL,
    skew double precision NOT NULL,
    highest_skew double precision NOT NULL,
    worst_broker integer,
    CONSTRAINT skew_hour_pk PRIMARY KEY (cluster, period_start, resource)
);
COMMENT ON TABLE store.skew_hour IS 'Skew of each resource by the hour: mean, and the highest with its broker.';

CREATE TABLE store.skew_day (
    LIKE store.skew_hour,
    CONSTRAINT skew_day_pk PRIMARY KEY (cluster, period_start, resource)
);
COMMENT ON TABLE store.skew_day IS 'Skew of each resource by the day: mean, and the highest with its broker.';

CREATE TABLE store.broker_day (
    cluster text NOT NULL,
    period_start timestamptz NOT NULL,
    broker integer NOT NULL,
    resource text NOT NULL,
    unit text NOT NULL,
    snapshot_count integer NOT NULL,
    load double precision NOT NULL,
    level double precision NOT NULL,
    level_to_mean_ratio double precision NOT NULL,
    highest_level_to_mean_ratio double precision NOT NULL,
    CONSTRAINT broker_day_pk PRIMARY KEY (cluster, period_start, broker, resource)
);
COMMENT ON TABLE store.broker_day IS 'Load and level of each broker by the day: means, and the highest over the mean.';

CREATE TABLE store.lag_hour (
    cluster text NOT NULL,
    period_start timestamptz NOT NULL,
    group_id text NOT NULL,
    snapshot_count integer NOT NULL,
    lag_messages double precision NOT NULL,
    highest_lag_messages bigint NOT NULL,
    CONSTRAINT lag_hour_pk PRIMARY KEY (cluster, period_start, group_id)
);
COMMENT ON TABLE store.lag_hour IS 'Lag of each group by the hour: mean and highest.';

CREATE TABLE store.lag_day (
    LIKE store.lag_hour,
    CONSTRAINT lag_day_pk PRIMARY KEY (cluster, period_start, group_id)
);
COMMENT ON TABLE store.lag_day IS 'Lag of each group by the day: mean and highest.';

-- Runs and their scores ----------------------------------------------------------------------------------------------

CREATE TABLE store.run (
    run_key bigint GENERATED ALWAYS AS IDENTITY,
    run_id text NOT NULL,
    cluster text NOT NULL,
    snapshot_key bigint NOT NULL,
    started_at timestamptz NOT NULL DEFAULT now(),  -- start of the first attempt
    attempted_at timestamptz NOT NULL DEFAULT now(),  -- start of the last attempt
    parameters jsonb NOT NULL,
    seed bigint NOT NULL,
    advisor_version text NOT NULL,
    status text NOT NULL DEFAULT 'running',
    published_at timestamptz,
    CONSTRAINT run_pk PRIMARY KEY (run_key),
    CONSTRAINT run_id_unique UNIQUE (run_id),
    CONSTRAINT run_of_snapshot FOREIGN KEY (snapshot_key) REFERENCES store.snapshot,
    CONSTRAINT run_status_known CHECK (status IN (
        'running',   -- started or half-written; a retry empties it and stays here
        'blocked',   -- running -> blocked: the result gate refused it; a retry sets it back to running
        'published'  -- running -> published: complete, visible to readers, never changed again
    )),
    CONSTRAINT run_published_has_time CHECK ((status = 'published') = (published_at IS NOT NULL))
);
-- Newest published run of a cluster (views *_latest, queries/run.sql), and its predecessors.
CREATE INDEX run_newest_published ON store.run (cluster, started_at DESC, run_key DESC) WHERE status = 'published';
-- Runs of one cluster in any status (views run_attempt, advisor_health).
CREATE INDEX run_of_cluster ON store.run (cluster, started_at DESC);
-- Snapshots of runs are kept (prune), and deleting a snapshot checks this.
CREATE INDEX run_of_snapshot ON store.run (snapshot_key);
COMMENT ON TABLE store.run IS 'One advisory over one snapshot with fixed parameters and seed; all its results carry run_key and started_at.';

CREATE TABLE store.broker_score (
    run_key bigint NOT NULL,
    started_at timestamptz NOT NULL,
    position integer NOT NULL,
    broker integer NOT NULL,
    rack text,
    resource text NOT NULL,
    unit text NOT NULL,
    load double precision NOT NULL,
    capacity double precision,
    level double precision NOT NULL,
    level_to_mean_ratio double precision NOT NULL,
    fair_share double precision,
    source text,
    remains_in_cluster boolean NOT NULL
) PARTITION BY RANGE (started_at);
CREATE INDEX broker_score_of_run ON store.broker_score (run_key, broker, resource);
COMMENT ON TABLE store.broker_score IS 'Load and level of each broker and resource today.';

CREATE TABLE store.rack_score (
    run_key bigint NOT NULL,
    position integer NOT NULL,
    rack text NOT NULL,
    resource text NOT NULL,
    unit text NOT NULL,
    brokers integer NOT NULL,
    load double precision NOT NULL,
    capacity double precision,
    level double precision NOT NULL,
    level_to_mean_ratio double precision NOT NULL,
    CONSTRAINT rack_score_pk PRIMARY KEY (run_key, rack, resource),
    CONSTRAINT rack_score_of_run FOREIGN KEY (run_key) REFERENCES store.run ON DELETE CASCADE
);
COMMENT ON TABLE store.rack_score IS 'Load and level of each rack and resource today.';

CREATE TABLE store.resource_score (
    run_key bigint NOT NULL,
    position integer NOT NULL,
    resource text NOT NULL,
    unit text NOT NULL,
    source text,
    known_share double precision,
    total double precision NOT NULL,
    plain_mean double precision NOT NULL,
    skew double precision NOT NULL,
    worst_broker integer,
    CONSTRAINT resource_score_pk PRIMARY KEY (run_key, resource),
    CONSTRAINT resource_score_of_run FOREIGN KEY (run_key) REFERENCES store.run ON DELETE CASCADE
);
COMMENT ON TABLE store.resource_score IS 'The cluster as a whole, one row a resource: total, plain mean, skew.';

CREATE TABLE store.topic_score (
    run_key bigint NOT NULL,
    started_at timestamptz NOT NULL,
    position integer NOT NULL,
    topic text NOT NULL,
    placer text NOT NULL,
    seed bigint NOT NULL,
    replica_skew double precision NOT NULL,
    leader_skew double precision NOT NULL,
    disk_skew double precision,
    replica_moves integer NOT NULL,
    leader_changes integer NOT NULL,
    bytes_to_move bigint,
    rack_violations integer
) PARTITION BY RANGE (started_at);
CREATE INDEX topic_score_of_run ON store.topic_score (run_key, topic, placer);
COMMENT ON TABLE store.topic_score IS 'Kafka''s own placers re-run on each topic, one row a seed, beside the current placement.';

CREATE TABLE store.group_score (
    run_key bigint NOT NULL,
    started_at timestamptz NOT NULL,
    position integer NOT NULL,
    group_id text NOT NULL,
    assignor text NOT NULL,
    version jsonb,  -- a fact, as subject and error: class and release that were replayed
    scenario text NOT NULL DEFAULT 'today',
    subject jsonb,  -- event of the scenario: the variant that moves most; the figures are of it
    variants integer,
    is_current boolean NOT NULL,
    is_recommended boolean NOT NULL,
    members integer NOT NULL,
    idle_members integer,
    partitions integer NOT NULL,
    skew_count double precision,
    skew_rate double precision,
    skew_lag double precision,
    cv_count double precision,
    cv_rate double precision,
    least_skew_count double precision,
    least_skew_rate double precision,
    partitions_moved bigint,  -- bigint: a rolling restart of 10,000 members moves more than an integer holds
    mean_partitions_moved double precision,  -- over all variants
    moved_rate_ratio double precision,
    partitions_revoked bigint,
    partitions_unread bigint,
    partitions_without_reader integer,
    longest_pause_ms bigint,
    unread_partition_ms bigint,
    same_rack_ratio double precision,
    leader_in_rack_ratio double precision,
    drain_seconds double precision,
    members_falling_behind integer,  -- where drain_seconds is NULL: NULL is unknown, a number (also 0) is never
    basis text,
    is_reproduced boolean,
    advice jsonb,  -- a fact: what to do about the group's strategy; of today's row alone
    rollover jsonb,  -- facts: the steps to the recommended strategy, and what may be read twice; of today's row alone
    lag_seconds double precision,  -- messages behind in seconds of writing; of today's row alone
    error jsonb
) PARTITION BY RANGE (started_at);
CREATE INDEX group_score_of_run ON store.group_score (run_key, group_id);
-- Today's and the recommended strategy of each group (group_drain_latest, group_overview_latest): 1 row in 70.
CREATE INDEX group_score_of_today ON store.group_score (run_key, group_id)
    WHERE scenario = 'today' AND (is_current OR is_recommended);
COMMENT ON TABLE store.group_score IS 'Each group under its own and under other assignors; error is why an assignor has no answer, its scores are then NULL.';

CREATE TABLE store.member_score (
    run_key bigint NOT NULL,
    started_at timestamptz NOT NULL,
    position integer NOT NULL,
    group_id text NOT NULL,
    assignor text NOT NULL,
    is_current boolean NOT NULL,
    is_recommended boolean NOT NULL,
    member_id text NOT NULL,
    instance_id text,
    rack text,
    partitions integer NOT NULL,
    in_bytes_per_s double precision,
    in_messages_per_s double precision,
    lag_messages bigint,
    drain_seconds double precision,
    is_falling_behind boolean
) PARTITION BY RANGE (started_at);
CREATE INDEX member_score_of_run ON store.member_score (run_key, group_id);
COMMENT ON TABLE store.member_score IS 'Partitions and load of each member in the current and in the recommended assignment.';

CREATE TABLE store.group_streams_scenario (
    run_key bigint NOT NULL,
    position integer NOT NULL,
    group_id text NOT NULL,
    scenario text NOT NULL,
    changed_instances text[] NOT NULL,
    members integer NOT NULL,
    instances integer,
    active_tasks integer NOT NULL,
    standby_tasks integer NOT NULL,
    warmup_tasks integer NOT NULL,
    most_active integer NOT NULL,
    least_active integer NOT NULL,
    idle_members integer NOT NULL,
    standbys_missing integer,
    active_of_instances integer NOT NULL,
    standbys_of_instances integer NOT NULL,
    active_moved integer NOT NULL,
    active_restored integer NOT NULL,
    standbys_restored integer NOT NULL,
    standby_replicas integer,
    unknown_parts text[] NOT NULL,
    CONSTRAINT group_streams_scenario_pk PRIMARY KEY (run_key, position),
    CONSTRAINT group_streams_scenario_of_run FOREIGN KEY (run_key) REFERENCES store.run ON DELETE CASCADE
);
COMMENT ON TABLE store.group_streams_scenario IS 'Tasks of each Streams group today and in each variant of a scenario.';

CREATE TABLE store.finding (
    run_key bigint NOT NULL,
    position integer NOT NULL,
    finding_key text NOT NULL,
    code text NOT NULL,
    severity text NOT NULL,
    subject_type text NOT NULL,
    subject text NOT NULL,
    evidence jsonb NOT NULL,
    recommendation_code text NOT NULL,
    recommendation_args jsonb NOT NULL,
    actor text NOT NULL,
    cost_code text,
    cost_args jsonb,
    gain double precision NOT NULL,
    confidence text NOT NULL,
    team text,  -- this column to mute_reason: by the rules of clusters.toml when the run was made
    channel text,
    tier integer,
    muted_until timestamptz,
    mute_reason text,
    CONSTRAINT finding_pk PRIMARY KEY (run_key, finding_key),
    CONSTRAINT finding_of_run FOREIGN KEY (run_key) REFERENCES store.run ON DELETE CASCADE,
    CONSTRAINT finding_actor_known CHECK (actor IN ('operator', 'plan', 'owner', 'none')),
    CONSTRAINT finding_severity_known CHECK (severity IN ('critical', 'high', 'medium', 'low', 'info', 'ok'))
);
-- Earlier advisories with the same finding (view finding_change).
CREATE INDEX finding_by_key ON store.finding (finding_key, run_key);
COMMENT ON TABLE store.finding IS 'Findings of a run, ranked; finding_key is stable from run to run.';

-- Plans --------------------------------------------------------------------------------------------------------------

CREATE TABLE store.plan (
    run_key bigint NOT NULL,
    plan_id text NOT NULL,
    verdict text NOT NULL,
    reasons jsonb NOT NULL,
    expires_at timestamptz,
    replica_moves integer NOT NULL,
    bytes bigint,
    leader_changes integer NOT NULL,
    seconds double precision,
    seconds_slot_filling double precision,
    continues text,
    document text NOT NULL,  -- text, not jsonb: its hash is plan_id
    CONSTRAINT plan_pk PRIMARY KEY (run_key),
    CONSTRAINT plan_of_run FOREIGN KEY (run_key) REFERENCES store.run ON DELETE CASCADE,
    CONSTRAINT plan_verdict_known CHECK (
        verdict IN ('rebalance', 'nothing_to_do', 'cannot_tell', 'infeasible', 'not_fixable_by_moving')
    )
);
-- A plan by its hash (check, continues).
CREATE INDEX plan_by_id ON store.plan (plan_id);
COMMENT ON TABLE store.plan IS 'The plan of a run; document is plan.json, byte for byte, whose hash is plan_id.';

CREATE TABLE store.advisory (
    run_key bigint NOT NULL,
    document text NOT NULL,  -- text, not jsonb: files keep the order of its keys
    CONSTRAINT advisory_pk PRIMARY KEY (run_key),
    CONSTRAINT advisory_of_run FOREIGN KEY (run_key) REFERENCES store.run ON DELETE CASCADE
);
COMMENT ON TABLE store.advisory IS 'Document of a run without its plan; its files are made from it.';

CREATE TABLE store.plan_resource (
    run_key bigint NOT NULL,
    resource text NOT NULL,
    unit text,
    source text,
    mean_level double precision,
    basis text,
    band_asked_low double precision,
    band_asked_high double precision,
    widened_low double precision,
    widened_high double precision,
    skew_before double precision,
    skew_after double precision,
    exclusion_reason_code text,
    exclusion_reason_args jsonb,
    watched_broker integer,
    watched_load double precision,
    watched_capacity double precision,
    is_capacity_assumed boolean,
    CONSTRAINT plan_resource_pk PRIMARY KEY (run_key, resource),
    CONSTRAINT plan_resource_of_run FOREIGN KEY (run_key) REFERENCES store.run ON DELETE CASCADE,
    CONSTRAINT plan_resource_balanced_or_excluded CHECK ((exclusion_reason_code IS NULL) = (skew_before IS NOT NULL))
);
COMMENT ON TABLE store.plan_resource IS 'Resources that the plan balances, with its bands, and those left out with the reason.';

CREATE TABLE store.plan_broker (
    run_key bigint NOT NULL,
    started_at timestamptz NOT NULL,
    broker integer NOT NULL,
    resource text NOT NULL,
    load_before double precision NOT NULL,
    load_after double precision NOT NULL,
    capacity double precision
) PARTITION BY RANGE (started_at);
CREATE INDEX plan_broker_of_run ON store.plan_broker (run_key, broker, resource);
COMMENT ON TABLE store.plan_broker IS 'Load of each broker and balanced resource before and after the plan.';

CREATE TABLE store.plan_bound (
    run_key bigint NOT NULL,
    cost text NOT NULL,
    value double precision NOT NULL,
    gap double precision,
    proof text NOT NULL,
    CONSTRAINT plan_bound_pk PRIMARY KEY (run_key, cost),
    CONSTRAINT plan_bound_of_run FOREIGN KEY (run_key) REFERENCES store.run ON DELETE CASCADE
);
COMMENT ON TABLE store.plan_bound IS 'Proven lower bound of each cost: no plan can cost less.';

CREATE TABLE store.move (
    run_key bigint NOT NULL,
    started_at timestamptz NOT NULL,
    position integer NOT NULL,
    topic text NOT NULL,
    partition integer NOT NULL,
    from_replicas integer[] NOT NULL,
    to_replicas integer[] NOT NULL,
    leader_from integer,
    leader_to integer NOT NULL,
    kind text NOT NULL,
    bytes bigint,
    wave integer NOT NULL,
    reason_code text NOT NULL,
    reason_args jsonb NOT NULL,
    consequence_if_skipped_code text NOT NULL,
    consequence_if_skipped_args jsonb NOT NULL
) PARTITION BY RANGE (started_at);
CREATE INDEX move_of_run ON store.move (run_key, topic, partition);
COMMENT ON TABLE store.move IS 'One partition''s change each; wave counts from 1, as the files do.';

CREATE TABLE store.wave (
    run_key bigint NOT NULL,
    direction text NOT NULL,
    wave integer NOT NULL,
    step integer,
    move_count integer NOT NULL,
    bytes bigint,
    seconds double precision,
    throttle_bytes_per_s bigint NOT NULL,
    free_disk_needed jsonb NOT NULL,
    CONSTRAINT wave_pk PRIMARY KEY (run_key, direction, wave),
    CONSTRAINT wave_of_run FOREIGN KEY (run_key) REFERENCES store.run ON DELETE CASCADE,
    CONSTRAINT wave_direction_known CHECK (direction IN ('forward', 'rollback'))
);
COMMENT ON TABLE store.wave IS 'Moves that start together; rollback 1 undoes the last forward wave.';

CREATE TABLE store.plan_step (
    run_key bigint NOT NULL,
    step integer NOT NULL,
    kind text NOT NULL,
    first_wave integer NOT NULL,
    last_wave integer NOT NULL,
    partitions integer NOT NULL,
    replica_moves integer NOT NULL,
    bytes bigint,
    leader_changes integer NOT NULL,
    seconds double precision,
    bytes_so_far bigint,
    lower_bound_bytes double precision,
    gap double precision,
    resource text,
    skew_before double precision,
    skew_after double precision,
    fullest_broker_before integer,
    fullest_broker_after integer,
    used_ratio_before double precision,
    used_ratio_after double precision,
    repairs jsonb NOT NULL,
    CONSTRAINT plan_step_pk PRIMARY KEY (run_key, step),
    CONSTRAINT plan_step_of_run FOREIGN KEY (run_key) REFERENCES store.run ON DELETE CASCADE,
    CONSTRAINT plan_step_kind_known CHECK (kind IN ('elect', 'repair', 'relieve', 'even_out')),
    CONSTRAINT plan_step_waves_in_order CHECK (first_wave <= last_wave)
);
COMMENT ON TABLE store.plan_step IS 'Parts of a plan after each of which an operator may stop.';

CREATE TABLE store.frontier_point (
    run_key bigint NOT NULL,
    position integer NOT NULL,
    tolerance double precision,
    bytes bigint,
    replica_moves integer NOT NULL,
    leader_changes integer NOT NULL,
    seconds double precision,
    lower_bound_bytes double precision,
    skew jsonb NOT NULL,
    name text,
    is_recommended boolean NOT NULL,
    reasons jsonb NOT NULL,
    CONSTRAINT frontier_point_pk PRIMARY KEY (run_key, position),
    CONSTRAINT frontier_point_of_run FOREIGN KEY (run_key) REFERENCES store.run ON DELETE CASCADE
);
COMMENT ON TABLE store.frontier_point IS 'Balance against bytes: what each tolerance costs.';

CREATE TABLE store.application (
    application_key bigint GENERATED ALWAYS AS IDENTITY,
    application_id text NOT NULL,
    run_key bigint NOT NULL,
    asked_at timestamptz NOT NULL DEFAULT now(),
    state text NOT NULL DEFAULT 'asked',
    failure text,
    answered_at timestamptz,
    answered_by text,
    check_snapshot_key bigint,
    check_status text,
    check_reasons jsonb,
    commands_shown_at timestamptz,
    verify_snapshot_key bigint,
    verified_at timestamptz,
    move_count integer,
    applied_count integer,
    placed_count integer,
    moving_count integer,
    open_count integer,
    elsewhere_count integer,
    gone_count integer,
    short_isr text[],
    throttles text[],
    predicted_bytes bigint,
    realised_bytes bigint,
    unsized_move_count integer,
    predicted_seconds double precision,
    realised_seconds double precision,
    seconds_basis text,
    CONSTRAINT application_pk PRIMARY KEY (application_key),
    CONSTRAINT application_id_unique UNIQUE (application_id),
    CONSTRAINT application_of_run FOREIGN KEY (run_key) REFERENCES store.run ON DELETE CASCADE,
    CONSTRAINT application_state_known CHECK (state IN (
        'asked',  -- shown, not answered
        'approved',  -- asked -> approved: checked again, commands shown
        'rejected', 'timed_out',  -- asked -> one of these: nothing was run
        'refused',  -- asked -> refused: approved, but the check on a fresh snapshot failed
        'verified', 'partly_applied', 'not_applied', 'moved_by_others'  -- approved -> one of these: read afterwards
    )),
    CONSTRAINT application_seconds_have_basis CHECK ((realised_seconds IS NULL) = (seconds_basis IS NULL)),
    CONSTRAINT application_seconds_basis_known CHECK (seconds_basis IN ('told', 'at_most'))
);
-- Applications of a run (view plan_application), and deleting one.
CREATE INDEX application_of_run ON store.application (run_key);
COMMENT ON TABLE store.application IS 'Requests to execute a plan: answer, check before, outcome after.';

-- Gates and the advisor's own health ---------------------------------------------------------------------------------

CREATE TABLE store.check_result (
    check_key bigint GENERATED ALWAYS AS IDENTITY,
    gate text NOT NULL,
    snapshot_key bigint,
    run_key bigint,
    rule text NOT NULL,
    level text NOT NULL,
    failed_rows integer NOT NULL,
    sample jsonb NOT NULL,
    checked_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT check_result_pk PRIMARY KEY (check_key),
    CONSTRAINT check_result_of_snapshot FOREIGN KEY (snapshot_key) REFERENCES store.snapshot ON DELETE CASCADE,
    CONSTRAINT check_result_of_run FOREIGN KEY (run_key) REFERENCES store.run ON DELETE CASCADE,
    CONSTRAINT check_result_one_subject CHECK (
        (gate = 'input' AND snapshot_key IS NOT NULL AND run_key IS NULL)
        OR (gate = 'results' AND run_key IS NOT NULL AND snapshot_key IS NULL)
    ),
    CONSTRAINT check_result_level_known CHECK (level IN (
        'block',       -- incoherent: the run stops, the rows are named
        'quarantine',  -- one subject is odd and left out of advice, with a finding
        'warn'         -- reported, nothing else
    ))
);
-- Checks of one snapshot: a gate that runs again replaces its results.
CREATE INDEX check_result_by_snapshot ON store.check_result (snapshot_key);
-- Checks of one run: the same, and publishing looks for blocking rules.
CREATE INDEX check_result_by_run ON store.check_result (run_key);
COMMENT ON TABLE store.check_result IS 'Result of each gate rule, with the first rows as evidence; failed_rows 0 is passed.';

CREATE TABLE store.task_failure (
    failure_key bigint GENERATED ALWAYS AS IDENTITY,
    cluster text NOT NULL,
    failed_at timestamptz NOT NULL DEFAULT now(),
    dag text NOT NULL,
    task text NOT NULL,
    dag_run text NOT NULL,
    message text NOT NULL,
    CONSTRAINT task_failure_pk PRIMARY KEY (failure_key)
);
-- Failures of one cluster, newest first (views task_failure, run_attempt, advisor_health), and pruning.
CREATE INDEX task_failure_of_cluster ON store.task_failure (cluster, failed_at DESC);
COMMENT ON TABLE store.task_failure IS 'Tasks that failed after all their retries, with the last message of each.';

-- So that a retry sends nothing twice, and a week without messages differs from a dead advisor.
CREATE TABLE store.notification (
    notification_key bigint GENERATED ALWAYS AS IDENTITY,
    cluster text NOT NULL,
    sent_at timestamptz NOT NULL DEFAULT now(),
    recipient text NOT NULL,
    kind text NOT NULL,
    subject_id text NOT NULL,
    CONSTRAINT notification_pk PRIMARY KEY (notification_key),
    CONSTRAINT notification_kind_known CHECK (kind IN (
        'news',      -- findings of a run that are new or worse; subject_id is the run's
        'failed',    -- a run that failed, was refused or never ended; the run's
        'late',      -- no advisory for too long; the newest run's
        'all_well'   -- a week without any of these; the newest run's
    ))
);
-- Messages about one cluster to one recipient, newest first (queries/notification.sql).
CREATE INDEX notification_of_recipient ON store.notification (cluster, recipient, sent_at DESC);
COMMENT ON TABLE store.notification IS 'Messages that were sent: to whom, of what kind, about which run.';

-- Weeks --------------------------------------------------------------------------------------------------------------
-- The partitions of the tables that grow belong to the owner. The writer makes, sweeps, drops and analyses them through
-- these functions, and needs no right to create or drop anything itself.

CREATE FUNCTION store.weeks(OUT table_name text, OUT parent text, OUT week_start timestamptz) RETURNS SETOF record
LANGUAGE sql STABLE SET search_path = store, pg_temp AS $$
    SELECT child.relname, parent.relname, to_date(right(child.relname, 7), 'IYYY"w"IW')::timestamp AT TIME ZONE 'UTC'
    FROM pg_inherits
    JOIN pg_class child ON child.oid = pg_inherits.inhrelid
    JOIN pg_class parent ON parent.oid = pg_inherits.inhparent
    WHERE parent.relnamespace = current_schema()::regnamespace AND parent.relkind = 'p' AND child.relkind = 'r'
$$;
COMMENT ON FUNCTION store.weeks IS 'All weekly partitions that exist, with the Monday (UTC) that each begins at.';

-- A week is made as a table and then attached: ATTACH takes a lock that neither readers nor writers wait for. CREATE TABLE
-- ... PARTITION OF wants all tables for itself, one after the other, and can meet a load of many tables in a deadlock.
CREATE FUNCTION store.ensure_week(moment timestamptz) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = store, pg_temp AS $$
DECLARE
    monday timestamp := date_trunc('week', moment AT TIME ZONE 'UTC');
    parent text;
    child text;
BEGIN
    FOR parent IN SELECT relname FROM pg_class
                  WHERE relnamespace = current_schema()::regnamespace AND relkind = 'p' ORDER BY relname LOOP
        child := parent || '_' || to_char(monday, 'IYYY"w"IW');
        CONTINUE WHEN to_regclass(format('%I.%I', current_schema(), child)) IS NOT NULL;
        -- Two writers may find it missing at once: the second waits here, then finds it.
        PERFORM pg_advisory_xact_lock(hashtext('ensure_week'));
        CONTINUE WHEN to_regclass(format('%I.%I', current_schema(), child)) IS NOT NULL;
        -- Before LIKE reads it: a session that held that lock and wanted this one could deadlock with sweep_week.
        EXECUTE format('LOCK TABLE ONLY %I IN SHARE UPDATE EXCLUSIVE MODE', parent);
        EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL)', child, parent);
        EXECUTE format(
            'ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
            parent, child, monday AT TIME ZONE 'UTC', (monday + interval '7 days') AT TIME ZONE 'UTC'
        );
    END LOOP;
END $$;
COMMENT ON FUNCTION store.ensure_week IS 'Make the partitions that hold a moment, for every table that grows.';

-- Sessions that come after a DROP wait behind it: behind a long pg_dump all readers and writers would stop. So it gives up
-- after lock_timeout, and retention tries again.
CREATE FUNCTION store.drop_week(name text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = store, pg_temp SET lock_timeout = '10s' AS $$
DECLARE
    week record;
BEGIN
    SELECT parent, week_start INTO week FROM weeks() WHERE table_name = name;
    IF week.parent IS NULL THEN
        RAISE EXCEPTION '% is no week of a table that grows', name;
    END IF;
    -- Waits for sessions that are saving into it.
    EXECUTE format('LOCK TABLE ONLY %I IN SHARE ROW EXCLUSIVE MODE', week.parent);
    IF week.parent <> 'load_history'
        AND EXISTS (
            SELECT FROM pg_attribute
            WHERE attrelid = to_regclass(format('%I.%I', current_schema(), week.parent)) AND attname = 'snapshot_key'
        )
        AND EXISTS (
            SELECT FROM snapshot
            WHERE NOT is_pruned AND captured_at >= week.week_start AND captured_at < week.week_start + interval '7 days'
        ) THEN
        RETURN;
    END IF;
    IF to_regclass(format('%I.%I', current_schema(), name)) IS NOT NULL THEN
        EXECUTE format('DROP TABLE %I', name);
    END IF;
END $$;
COMMENT ON FUNCTION store.drop_week IS 'Drop one weekly partition whole; refuses every other table.';

-- Snapshots that go one by one, before their week: the week is written anew with the rows that stay. A DELETE would leave the
-- space with the table (only its last pages go back to the disk), and takes longer than copying the few rows that stay.

CREATE FUNCTION store.kept_readings(parent text, week_start timestamptz) RETURNS SETOF bigint
LANGUAGE sql STABLE SET search_path = store, pg_temp AS $$
    SELECT snapshot.snapshot_key
    FROM snapshot
    WHERE snapshot.captured_at >= week_start AND snapshot.captured_at < week_start + interval '7 days'
        AND (
            NOT snapshot.is_pruned
            -- An advisory goes on to show the type of its groups.
            OR parent = 'consumer_group' AND EXISTS (SELECT FROM run WHERE run.snapshot_key = snapshot.snapshot_key)
        )
$$;
COMMENT ON FUNCTION store.kept_readings IS 'Snapshots of a week whose rows stay in a table of snapshots.';

CREATE FUNCTION store.has_leavings(name text, parent text, week_start timestamptz) RETURNS boolean
LANGUAGE plpgsql STABLE SET search_path = store, pg_temp AS $$
DECLARE
    found boolean;
BEGIN
    EXECUTE format(
        'SELECT EXISTS (
            SELECT FROM snapshot
            CROSS JOIN LATERAL (
                SELECT FROM %I AS left_there WHERE left_there.snapshot_key = snapshot.snapshot_key LIMIT 1
            ) AS row_of
            WHERE snapshot.is_pruned AND snapshot.captured_at >= $2 AND snapshot.captured_at < $2 + interval ''7 days''
                AND snapshot.snapshot_key NOT IN (SELECT kept_readings($1, $2))
        )', name
    ) INTO found USING parent, week_start;
    RETURN found;
END $$;
COMMENT ON FUNCTION store.has_leavings IS 'Whether a weekly partition holds rows of snapshots that were pruned.';

CREATE FUNCTION store.sweep_week(name text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = store, pg_temp SET lock_timeout = '10s' AS $$
DECLARE
    week record;
    columns text;
    fresh text := name || '_swept';
BEGIN
    SELECT parent, week_start INTO week FROM weeks() WHERE table_name = name;
    SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) INTO columns
    FROM pg_attribute
    WHERE attrelid = to_regclass(format('%I.%I', current_schema(), week.parent)) AND attnum > 0 AND NOT attisdropped
    -- Hourly loads outlive their snapshots.
    HAVING bool_or(attname = 'snapshot_key') AND week.parent <> 'load_history';
    IF columns IS NULL THEN
        RAISE EXCEPTION '% is no week of a table of readings', name;
    END IF;
    IF NOT has_leavings(name, week.parent, week.week_start) THEN
        RETURN false;
    END IF;
    -- Writers of this table wait while the rows that stay are copied (seconds), readers for the moment of the exchange.
    -- One table a transaction: two sessions that lock two tables in different orders could deadlock.
    EXECUTE format('LOCK TABLE ONLY %I IN SHARE ROW EXCLUSIVE MODE', week.parent);
    -- Another session may have swept or dropped it in the meantime.
    IF to_regclass(format('%I.%I', current_schema(), name)) IS NULL
        OR NOT has_leavings(name, week.parent, week.week_start) THEN
        RETURN false;
    END IF;
    EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL)', fresh, week.parent);
    EXECUTE format(
        'INSERT INTO %I (%s) SELECT %s FROM %I WHERE snapshot_key IN (SELECT kept_readings($1, $2)) ORDER BY snapshot_key',
        fresh, columns, columns, name
    ) USING week.parent, week.week_start;
    EXECUTE format('ANALYZE %I', fresh);
    EXECUTE format('DROP TABLE %I', name);
    EXECUTE format('ALTER TABLE %I RENAME TO %I', fresh, name);
    EXECUTE format(
        'ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
        week.parent, name, week.week_start, week.week_start + interval '7 days'
    );
    RETURN true;
END $$;
COMMENT ON FUNCTION store.sweep_week IS 'Write one weekly partition of snapshots anew without those that were pruned; false where it holds none of them.';

-- Statistics of what was just copied. Without them the planner takes a fresh snapshot for one row and joins it whole by
-- nested loops; whether autovacuum came by in time is luck. Three thousand rows of a column (target 10) tell how many topics
-- and groups there are nearly as well as thirty thousand, in a third of the time; autovacuum later looks at more.
CREATE FUNCTION store.analyze_tables(names text[], moment timestamptz) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = store, pg_temp SET default_statistics_target = 10 AS $$
DECLARE
    week text := to_char(date_trunc('week', moment AT TIME ZONE 'UTC'), 'IYYY"w"IW');
    name text;
    kind "char";
    child text;
    keys text;
BEGIN
    -- In one order for all sessions: ANALYZE locks each table against another ANALYZE until the transaction ends.
    FOREACH name IN ARRAY (SELECT array_agg(DISTINCT each ORDER BY each) FROM unnest(names) AS each) LOOP
        SELECT relkind INTO kind FROM pg_class
        WHERE relnamespace = current_schema()::regnamespace AND relname = name AND relkind IN ('r', 'p');
        IF kind IS NULL THEN
            RAISE EXCEPTION '% is no table of this schema', name;
        END IF;
        child := CASE WHEN kind = 'p' THEN name || '_' || week ELSE name END;
        -- Only what rows are found and joined by: documents and lists are what takes long.
        SELECT string_agg(DISTINCT quote_ident(column_of.attname), ', ') INTO keys
        FROM pg_index
        JOIN pg_attribute AS column_of ON column_of.attrelid = pg_index.indrelid
        WHERE pg_index.indrelid = to_regclass(format('%I.%I', current_schema(), child))
            AND (
                column_of.attnum = ANY (pg_index.indkey)
                OR column_of.attname IN ('captured_at', 'started_at', 'period_start')
            )
            AND column_of.attnum > 0;
        IF keys IS NOT NULL THEN
            EXECUTE format('ANALYZE %I (%s)', child, keys);
        END IF;
    END LOOP;
END $$;
COMMENT ON FUNCTION store.analyze_tables IS 'Collect statistics of tables, of those that grow the week that holds a moment.';
