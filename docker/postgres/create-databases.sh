#!/usr/bin/env bash
# Runs once, on an empty volume: Airflow's own database and ours beside it, each with a login of its own. advisor_owner
# migrates, advisor_writer is the pipeline, advisor_reader sees the contract (dashboards); none is a superuser. PUBLIC may
# not connect, nor make temporary tables or large objects, with which a reader could fill the disk.
set -euo pipefail
psql --no-psqlrc --set ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname postgres \
  --set airflow="$AIRFLOW_DB_PASSWORD" --set owner="$ADVISOR_OWNER_PASSWORD" \
  --set writer="$ADVISOR_WRITER_PASSWORD" --set reader="$ADVISOR_READER_PASSWORD" <<'SQL'
CREATE ROLE airflow LOGIN PASSWORD :'airflow';
CREATE ROLE advisor_owner LOGIN PASSWORD :'owner';
CREATE ROLE advisor_writer LOGIN PASSWORD :'writer';
CREATE ROLE advisor_reader LOGIN PASSWORD :'reader';
CREATE DATABASE airflow OWNER airflow;
CREATE DATABASE advisor OWNER advisor_owner;
REVOKE ALL ON DATABASE airflow FROM PUBLIC;
REVOKE ALL ON DATABASE advisor FROM PUBLIC;
GRANT CONNECT ON DATABASE advisor TO advisor_writer, advisor_reader;
\connect advisor
REVOKE EXECUTE ON FUNCTION
    lo_creat(integer), lo_create(oid), lo_from_bytea(oid, bytea), lo_import(text), lo_import(text, oid)
FROM PUBLIC;
SQL
