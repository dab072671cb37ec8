"""The jobs on a standalone master whose executors have no checkout: the same rows in the store as with ``local[2]``."""

from __future__ import annotations

import subprocess

import pytest

from rebalance_advisor import store

pytestmark = [pytest.mark.stack, pytest.mark.slow]

LOCAL = ("--master", "local[2]")
SCORES = ("broker_score", "rack_score", "resource_score", "topic_score", "group_score", "member_score")


def on_master(address, python):
    import sys

    return (
        "--master", address, "--conf", f"spark.pyspark.python={python}",
        "--conf", f"spark.pyspark.driver.python={sys.executable}",
    )  # fmt: skip


def started(dsn, snapshot, run_id, parameters):
    with store.connect(dsn) as connection:
        snapshot_id = store.save_snapshot(connection, snapshot)
        store.start_run(
            connection, run_id=run_id, cluster=snapshot.cluster, snapshot_id=snapshot_id, parameters=parameters
        )
    return run_id


def test_the_executors_python_has_nothing_of_ours(whole_python):
    for package in ("kafka_rebalance", "rebalance_advisor", "psycopg", "kafka"):
        done = subprocess.run([whole_python, "-c", f"import {package}"], capture_output=True, text=True, env={})
        assert f"No module named '{package}'" in done.stderr


def test_replay_answers_as_a_local_one(dsn, standalone, whole_python, demo):
    cluster, address = standalone
    found = {}
    for name, master in (("local", LOCAL), ("standalone", on_master(address, whole_python))):
        run_id = started(dsn, demo, name, {})
        done = cluster.submit("replay", run_id, master, ADVISOR_POSTGRES_DSN=dsn)
        assert done.returncode == 0, done.stdout[-4000:]
        assert "groups: 40 of 40 (100 %) after " in done.stdout
        with store.connect(dsn) as connection:
            found[name] = [store.load_scores(connection, run_id, table) for table in SCORES]
    assert all(found["local"])
    assert found["standalone"] == found["local"]
