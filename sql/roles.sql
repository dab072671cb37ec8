-- Rights; executed after every migration, so that new tables and views are covered.
-- advisor_owner owns everything; advisor_writer is the pipeline; advisor_reader sees the public views and nothing else.

-- A database that belongs to the owner is the advisor's alone: no other login needs temporary tables there. Large objects
-- must be forbidden by a superuser (docs/install.md).
DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_database WHERE datname = current_database() AND datdba = current_user::regrole) THEN
        EXECUTE format('REVOKE TEMPORARY ON DATABASE %I FROM PUBLIC', current_database());
    END IF;
END
$$;

REVOKE ALL ON SCHEMA store FROM PUBLIC;
REVOKE ALL ON SCHEMA advisor FROM PUBLIC;
REVOKE ALL ON ALL TABLES IN SCHEMA store FROM PUBLIC;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA store FROM PUBLIC;

GRANT USAGE ON SCHEMA store TO advisor_writer;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA store TO advisor_writer;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA store TO advisor_writer;
REVOKE INSERT, UPDATE, DELETE ON store.migration FROM advisor_writer;

-- Weeks that are created later are reached through their parents and need no grants.
GRANT USAGE ON SCHEMA advisor TO advisor_reader, advisor_writer;
GRANT SELECT ON ALL TABLES IN SCHEMA advisor TO advisor_reader, advisor_writer;
