#!/usr/bin/env bash
# Spark's master and workers take their secret from a file of their own user: `ps` shows what a command line holds. The
# secret leaves the environment, which executors inherit.
set -euo pipefail
umask 077
settings="$HOME/spark.properties"
printf '%s\n' "spark.authenticate true" "spark.authenticate.secret $SPARK_AUTH_SECRET" \
  "spark.network.crypto.enabled true" "spark.ui.killEnabled false" > "$settings"
unset SPARK_AUTH_SECRET
exec spark-class "$@" --properties-file "$settings"
