-- Whose trouble a finding is, and until when it is muted: rules of the cluster's table, as they were when the run was made.

ALTER TABLE store.finding
    ADD COLUMN team text,
    ADD COLUMN channel text,
    ADD COLUMN tier integer,
    ADD COLUMN muted_until timestamptz,
    ADD COLUMN mute_reason text;
