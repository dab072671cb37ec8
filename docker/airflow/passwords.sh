#!/usr/bin/env bash
# SimpleAuthManager reads passwords from a file: written from the environment, so that no secret stands in an image.
set -euo pipefail
(umask 077 && printf '{"admin": "%s"}' "$AIRFLOW_ADMIN_PASSWORD" > /opt/airflow/passwords.json)
exec airflow api-server
