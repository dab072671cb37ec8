-- What somebody was asked to carry out, what they answered, and what came of it.

CREATE TABLE store.application (
    application_key bigint GENERATED ALWAYS AS IDENTITY,
    application_id text NOT NULL,
    run_key bigint NOT NULL,
    time timestamptz NOT NULL DEFAULT now(),
    state text NOT NULL DEFAULT 'asked',
    words text NOT NULL DEFAULT '',
    answered_at timestamptz,
    answered_by text,
    check_snapshot_key bigint,
    check_status text,
    check_reasons text[],
    commands_at timestamptz,
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
        'refused',  -- asked -> refused: approved, but it holds no more on a fresh reading
        'verified', 'partly_applied', 'not_applied', 'moved_by_others'  -- approved -> one of these: read afterwards
    )),
    CONSTRAINT application_seconds_have_basis CHECK ((realised_seconds IS NULL) = (seconds_basis IS NULL)),
    CONSTRAINT application_seconds_basis_known CHECK (seconds_basis IN ('told', 'at_most'))
);
-- Applications of a run (view plan_application), and deleting one.
CREATE INDEX application_of_run ON store.application (run_key);
COMMENT ON TABLE store.application IS 'One time that somebody was asked to carry a plan out: answer, check before, outcome after.';
