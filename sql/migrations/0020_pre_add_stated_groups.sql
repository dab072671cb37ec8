-- Dumps may count the members of a group, or a member's partitions, without showing each; a snapshot JSON may name the
-- client library of a group. NULL in readings that were stored before.

ALTER TABLE store.consumer_group
    ADD COLUMN stated_member_count integer,
    ADD COLUMN client text,
    ADD COLUMN client_version text;

ALTER TABLE store.member
    ADD COLUMN partition_count integer,
    ALTER COLUMN assigned DROP NOT NULL;

COMMENT ON COLUMN store.consumer_group.stated_member_count IS
    'Members as the source counts them; NULL where it shows each one. member_count is the larger of this and the rows.';
COMMENT ON COLUMN store.consumer_group.client IS 'Client library of its members, where the input names it.';
COMMENT ON COLUMN store.consumer_group.client_version IS 'Version of the client library.';
COMMENT ON COLUMN store.member.partition_count IS
    'Partitions as the source counts them; NULL where it shows each one. assigned is NULL where it shows none of them.';
