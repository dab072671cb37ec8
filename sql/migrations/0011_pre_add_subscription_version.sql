-- The version of the bytes that a member of a classic group joined with: it tells clients and their releases apart. NULL in
-- readings that were stored before, and where it was not told.

ALTER TABLE store.member ADD COLUMN subscription_version integer;
