-- Roles, schemas and the table of migrations. The runner executes it first, in the transaction of the migrations.
-- It uses roles and schemas that exist: then the login needs to be a member of advisor_owner, and nothing more.

DO $$
DECLARE
    role_name text;
    schema_name text;
BEGIN
    FOREACH role_name IN ARRAY ARRAY['advisor_owner', 'advisor_writer', 'advisor_reader'] LOOP
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = role_name) THEN
            EXECUTE format('CREATE ROLE %I NOLOGIN', role_name);
        END IF;
    END LOOP;
    -- PostgreSQL 15 has no right to SET ROLE apart from membership.
    IF NOT pg_has_role(
        current_user, 'advisor_owner',
        CASE WHEN current_setting('server_version_num')::integer >= 160000 THEN 'SET' ELSE 'MEMBER' END
    ) THEN
        GRANT advisor_owner TO CURRENT_USER;
    END IF;
    FOREACH schema_name IN ARRAY ARRAY['store', 'advisor'] LOOP
        IF to_regnamespace(schema_name) IS NULL THEN
            EXECUTE format('CREATE SCHEMA %I AUTHORIZATION advisor_owner', schema_name);
        END IF;
    END LOOP;
END
$$;

SET LOCAL ROLE advisor_owner;

CREATE TABLE IF NOT EXISTS store.migration (
    version integer NOT NULL,
    name text NOT NULL,
    checksum text NOT NULL,  -- sha256 of the file: an applied migration never changes
    applied_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT migration_pk PRIMARY KEY (version)
);
