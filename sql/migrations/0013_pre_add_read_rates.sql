-- How fast each group reads each partition, and what follows from it: when its lag is gone, and who falls behind. NULL in
-- readings and advisories that were stored before, and where it is unknown.

-- Along partitions; NULL where of none of them the rate is known.
ALTER TABLE store.committed_offset
    ADD COLUMN read_messages_per_s double precision[],
    ADD CONSTRAINT committed_offset_reads_equal CHECK (cardinality(read_messages_per_s) = cardinality(partitions));

-- Where drain_seconds is NULL, members_falling_behind tells never (0: what nobody reads) from unknown (NULL).
ALTER TABLE store.group_score
    ADD COLUMN members_falling_behind integer,
    ADD COLUMN leader_in_rack_ratio double precision;

ALTER TABLE store.member_score
    ADD COLUMN drain_seconds double precision,
    ADD COLUMN is_falling_behind boolean;
