-- Runs: one advisory over one snapshot each, and everything it says. Readers see a run once its status is 'published'.

CREATE TABLE store.run (
    run_key bigint GENERATED ALWAYS AS IDENTITY,
    run_id text NOT NULL,
    cluster text NOT NULL,
    snapshot_key bigint NOT NULL,
    time timestamptz NOT NULL DEFAULT now(),
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
        'published'  -- running -> published: complete, visible, never changed again
    )),
    CONSTRAINT run_published_has_time CHECK ((status = 'published') = (published_at IS NOT NULL))
);
-- Newest published run of a cluster (views *_latest, queries/run.sql), and its predecessors.
CREATE INDEX run_newest_published ON store.run (cluster, time DESC, run_key DESC) WHERE status = 'published';
-- Snapshots that runs rest on are kept (prune), and deleting a snapshot checks this.
CREATE INDEX run_of_snapshot ON store.run (snapshot_key);
COMMENT ON TABLE store.run IS 'One advisory over one snapshot with fixed parameters and seed; all its results carry run_key and time.';

CREATE TABLE store.broker_score (
    run_key bigint NOT NULL,
    time timestamptz NOT NULL,
    position integer NOT NULL,
    broker integer NOT NULL,
    rack text,
    resource text NOT NULL,
    unit text NOT NULL,
    load double precision NOT NULL,
    capacity double precision,
    level double precision NOT NULL,
    over_mean double precision NOT NULL,
    fair_share double precision,
    source text,
    stays boolean NOT NULL
) PARTITION BY RANGE (time);
CREATE INDEX broker_score_of_run ON store.broker_score (run_key, broker, resource);
COMMENT ON TABLE store.broker_score IS 'Load and level of each broker and resource today (DESIGN §9).';

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
    over_mean double precision NOT NULL,
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
    time timestamptz NOT NULL,
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
) PARTITION BY RANGE (time);
CREATE INDEX topic_score_of_run ON store.topic_score (run_key, topic, placer);
COMMENT ON TABLE store.topic_score IS 'Kafka''s own placers re-run on each topic, one row a seed, beside the placement of today.';

CREATE TABLE store.group_score (
    run_key bigint NOT NULL,
    time timestamptz NOT NULL,
    position integer NOT NULL,
    group_id text NOT NULL,
    assignor text NOT NULL,
    version text,
    scenario text NOT NULL DEFAULT 'today',
    is_current boolean NOT NULL,
    is_advised boolean NOT NULL,
    members integer NOT NULL,
    idle_members integer,
    partitions integer NOT NULL,
    skew_count double precision,
    skew_rate double precision,
    skew_lag double precision,
    partitions_moved integer,
    moved_rate_ratio double precision,
    same_rack_ratio double precision,
    drain_seconds double precision,
    basis text,
    is_reproduced boolean,
    error text
) PARTITION BY RANGE (time);
CREATE INDEX group_score_of_run ON store.group_score (run_key, group_id);
COMMENT ON TABLE store.group_score IS 'Each group under its own and under other assignors; error is a strategy''s refusal, its scores then NULL.';

CREATE TABLE store.member_score (
    run_key bigint NOT NULL,
    time timestamptz NOT NULL,
    position integer NOT NULL,
    group_id text NOT NULL,
    assignor text NOT NULL,
    is_current boolean NOT NULL,
    is_advised boolean NOT NULL,
    member_id text NOT NULL,
    instance_id text,
    rack text,
    partitions integer NOT NULL,
    in_bytes_per_s double precision,
    in_messages_per_s double precision,
    lag_messages bigint
) PARTITION BY RANGE (time);
CREATE INDEX member_score_of_run ON store.member_score (run_key, group_id);
COMMENT ON TABLE store.member_score IS 'What each member reads in the assignment of today and in the advised one.';

CREATE TABLE store.finding (
    run_key bigint NOT NULL,
    position integer NOT NULL,
    finding_key text NOT NULL,
    code text NOT NULL,
    severity text NOT NULL,
    subject_type text NOT NULL,
    subject text NOT NULL,
    evidence jsonb NOT NULL,
    recommendation text NOT NULL,
    cost text NOT NULL,
    gain double precision NOT NULL,
    confidence text NOT NULL,
    CONSTRAINT finding_pk PRIMARY KEY (run_key, finding_key),
    CONSTRAINT finding_of_run FOREIGN KEY (run_key) REFERENCES store.run ON DELETE CASCADE,
    CONSTRAINT finding_severity_known CHECK (severity IN ('critical', 'high', 'medium', 'low', 'info', 'ok'))
);
-- When was this trouble seen before (view finding_change)?
CREATE INDEX finding_by_key ON store.finding (finding_key, run_key);
COMMENT ON TABLE store.finding IS 'What is wrong or could be better, ranked; finding_key is stable from run to run.';

CREATE TABLE store.plan (
    run_key bigint NOT NULL,
    plan_id text NOT NULL,
    verdict text NOT NULL,
    reasons text[] NOT NULL,
    expires_at timestamptz,
    replica_moves integer NOT NULL,
    bytes bigint,
    leader_changes integer NOT NULL,
    seconds double precision,
    seconds_slot_filling double precision,
    continues text,
    document text NOT NULL,
    CONSTRAINT plan_pk PRIMARY KEY (run_key),
    CONSTRAINT plan_of_run FOREIGN KEY (run_key) REFERENCES store.run ON DELETE CASCADE,
    CONSTRAINT plan_verdict_known CHECK (verdict IN ('rebalance', 'nothing_to_do', 'infeasible', 'not_fixable_by_moving'))
);
-- A plan by its hash (check, continues).
CREATE INDEX plan_by_id ON store.plan (plan_id);
COMMENT ON TABLE store.plan IS 'The plan of a run; document is plan.json, byte for byte, whose hash is plan_id.';

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
    left_out_because text,
    CONSTRAINT plan_resource_pk PRIMARY KEY (run_key, resource),
    CONSTRAINT plan_resource_of_run FOREIGN KEY (run_key) REFERENCES store.run ON DELETE CASCADE,
    CONSTRAINT plan_resource_balanced_or_left_out CHECK ((left_out_because IS NULL) = (skew_before IS NOT NULL))
);
COMMENT ON TABLE store.plan_resource IS 'Resources that the plan balances, with its bands, and those left out with the reason.';

CREATE TABLE store.plan_broker (
    run_key bigint NOT NULL,
    time timestamptz NOT NULL,
    broker integer NOT NULL,
    resource text NOT NULL,
    before double precision NOT NULL,
    after double precision NOT NULL,
    capacity double precision
) PARTITION BY RANGE (time);
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
COMMENT ON TABLE store.plan_bound IS 'Proven lower bound of each cost: nobody can do it for less.';

CREATE TABLE store.move (
    run_key bigint NOT NULL,
    time timestamptz NOT NULL,
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
    worse_without_code text NOT NULL,
    worse_without_args jsonb NOT NULL
) PARTITION BY RANGE (time);
CREATE INDEX move_of_run ON store.move (run_key, topic, partition);
COMMENT ON TABLE store.move IS 'One partition''s change each; wave counts from 1, as the files do.';

CREATE TABLE store.wave (
    run_key bigint NOT NULL,
    direction text NOT NULL,
    wave integer NOT NULL,
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

CREATE TABLE store.frontier_point (
    run_key bigint NOT NULL,
    position integer NOT NULL,
    tolerance double precision,
    bytes bigint,
    replica_moves integer NOT NULL,
    leader_changes integer NOT NULL,
    lower_bound_bytes double precision,
    skew jsonb NOT NULL,
    name text,
    is_recommended boolean NOT NULL,
    reason text NOT NULL,
    CONSTRAINT frontier_point_pk PRIMARY KEY (run_key, position),
    CONSTRAINT frontier_point_of_run FOREIGN KEY (run_key) REFERENCES store.run ON DELETE CASCADE
);
COMMENT ON TABLE store.frontier_point IS 'Balance against bytes: what each tolerance costs.';

CREATE TABLE store.check_result (
    check_key bigint GENERATED ALWAYS AS IDENTITY,
    gate text NOT NULL,
    snapshot_key bigint,
    run_key bigint,
    rule text NOT NULL,
    level text NOT NULL,
    failed_rows integer NOT NULL,
    message text NOT NULL,
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
        'warn'         -- said, nothing else
    ))
);
-- Checks of one snapshot: a gate that runs again replaces its answer.
CREATE INDEX check_result_by_snapshot ON store.check_result (snapshot_key);
-- Checks of one run: the same, and publishing looks for what blocks.
CREATE INDEX check_result_by_run ON store.check_result (run_key);
COMMENT ON TABLE store.check_result IS 'What each gate rule found, with the first rows as evidence; failed_rows 0 is passed.';

CREATE TABLE store.quarantine (
    snapshot_key bigint NOT NULL,
    subject_type text NOT NULL,
    subject text NOT NULL,
    rule text NOT NULL,
    reason text NOT NULL,
    CONSTRAINT quarantine_pk PRIMARY KEY (snapshot_key, subject_type, subject, rule),
    CONSTRAINT quarantine_of_snapshot FOREIGN KEY (snapshot_key) REFERENCES store.snapshot ON DELETE CASCADE
);
COMMENT ON TABLE store.quarantine IS 'Subjects of a snapshot that advice leaves out.';
