-- How uneven each reading was and how far each group was behind, per hour and per day for longer than readings are kept;
-- when each attempt at an advisory began; and which tasks failed.

-- Of each reading, as long as the reading itself is kept.
CREATE TABLE store.broker_level (
    snapshot_key bigint NOT NULL,
    time timestamptz NOT NULL,
    broker integer NOT NULL,
    rack text,
    resource text NOT NULL,
    unit text NOT NULL,
    load double precision NOT NULL,
    capacity double precision,
    level double precision NOT NULL,
    over_mean double precision NOT NULL,
    stays boolean NOT NULL
) PARTITION BY RANGE (time);
CREATE INDEX broker_level_of_snapshot ON store.broker_level (snapshot_key, broker, resource);
COMMENT ON TABLE store.broker_level IS 'Load and level of each broker and resource in a reading, as an advisory on it would score them.';

CREATE TABLE store.resource_skew (
    snapshot_key bigint NOT NULL,
    time timestamptz NOT NULL,
    resource text NOT NULL,
    unit text NOT NULL,
    total double precision NOT NULL,
    skew double precision NOT NULL,
    worst_broker integer
) PARTITION BY RANGE (time);
CREATE INDEX resource_skew_of_snapshot ON store.resource_skew (snapshot_key, resource);
COMMENT ON TABLE store.resource_skew IS 'Skew of each resource in a reading.';

CREATE TABLE store.group_lag (
    snapshot_key bigint NOT NULL,
    time timestamptz NOT NULL,
    group_id text NOT NULL,
    lag_messages bigint NOT NULL
) PARTITION BY RANGE (time);
CREATE INDEX group_lag_of_snapshot ON store.group_lag (snapshot_key, group_id);
COMMENT ON TABLE store.group_lag IS 'How far a group was behind in all its topics together, in a reading; no row where nobody knows.';

-- Roll-ups: a row an hour or a day (UTC), made anew from the readings of that time whenever one of them is let pass.
CREATE TABLE store.skew_hour (
    cluster text NOT NULL,
    time timestamptz NOT NULL,
    resource text NOT NULL,
    unit text NOT NULL,
    readings integer NOT NULL,
    total double precision NOT NULL,
    skew double precision NOT NULL,
    highest_skew double precision NOT NULL,
    worst_broker integer,
    CONSTRAINT skew_hour_pk PRIMARY KEY (cluster, time, resource)
);
COMMENT ON TABLE store.skew_hour IS 'Skew of each resource by the hour: mean, and the highest with its broker.';

CREATE TABLE store.skew_day (LIKE store.skew_hour INCLUDING ALL);
ALTER INDEX store.skew_day_pkey RENAME TO skew_day_pk;
COMMENT ON TABLE store.skew_day IS 'The same by the day.';

CREATE TABLE store.broker_day (
    cluster text NOT NULL,
    time timestamptz NOT NULL,
    broker integer NOT NULL,
    resource text NOT NULL,
    unit text NOT NULL,
    readings integer NOT NULL,
    load double precision NOT NULL,
    level double precision NOT NULL,
    over_mean double precision NOT NULL,
    highest_over_mean double precision NOT NULL,
    CONSTRAINT broker_day_pk PRIMARY KEY (cluster, time, broker, resource)
);
COMMENT ON TABLE store.broker_day IS 'Load and level of each broker by the day: means, and the highest over the mean.';

CREATE TABLE store.lag_hour (
    cluster text NOT NULL,
    time timestamptz NOT NULL,
    group_id text NOT NULL,
    readings integer NOT NULL,
    lag_messages double precision NOT NULL,
    highest_lag_messages bigint NOT NULL,
    CONSTRAINT lag_hour_pk PRIMARY KEY (cluster, time, group_id)
);
COMMENT ON TABLE store.lag_hour IS 'Lag of each group by the hour: mean and highest.';

CREATE TABLE store.lag_day (LIKE store.lag_hour INCLUDING ALL);
ALTER INDEX store.lag_day_pkey RENAME TO lag_day_pk;
COMMENT ON TABLE store.lag_day IS 'The same by the day.';

-- When the attempt began that published it, or that is under way: time stays that of the first.
ALTER TABLE store.run ADD COLUMN attempted_at timestamptz NOT NULL DEFAULT now();
UPDATE store.run SET attempted_at = time;
-- Runs of one cluster, whatever became of them (views run_attempt, advisor_health).
CREATE INDEX run_of_cluster ON store.run (cluster, time DESC);

CREATE TABLE store.task_failure (
    failure_key bigint GENERATED ALWAYS AS IDENTITY,
    cluster text NOT NULL,
    time timestamptz NOT NULL DEFAULT now(),
    dag text NOT NULL,
    task text NOT NULL,
    dag_run text NOT NULL,
    words text NOT NULL,
    CONSTRAINT task_failure_pk PRIMARY KEY (failure_key)
);
-- Failures of one cluster, newest first (views task_failure, run_attempt, advisor_health), and pruning.
CREATE INDEX task_failure_of_cluster ON store.task_failure (cluster, time DESC);
COMMENT ON TABLE store.task_failure IS 'Tasks that were given up, after their retries, with the last words of each.';
