-- What was told to whom: a retry tells nothing twice, and a week of silence is seen.

CREATE TABLE store.notification (
    notification_key bigint GENERATED ALWAYS AS IDENTITY,
    cluster text NOT NULL,
    time timestamptz NOT NULL DEFAULT now(),
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
-- What one recipient was told of one cluster, newest first (queries/notification.sql).
CREATE INDEX notification_of_recipient ON store.notification (cluster, recipient, time DESC);
COMMENT ON TABLE store.notification IS 'Messages that were sent: to whom, of what kind, about which run.';
