"""The jobs on a standalone master whose executors have no checkout: the same rows in the store as with ``local[2]``."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from rebalance_advisor import store
from rebalance_advisor.run_advice import advise_run, read_question

pytestmark = [pytest.mark.stack, pytest.mark.slow]

LOCAL = ("--master", "local[2]")
ANY_AGE = {"age_limit": "3650d"}  # the readings have a fixed time
COMPILED = "kernels of this step are compiled"
SCORES = ("broker_score", "rack_score", "resource_score", "topic_score", "group_score", "member_score")


def on_master(address, python):
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
    for package in ("kafka_assignors", "kafka_rebalance", "rebalance_advisor", "psycopg", "kafka"):
        done = subprocess.run([whole_python, "-c", f"import {package}"], capture_output=True, text=True, env={})
        assert f"No module named '{package}'" in done.stderr


@pytest.fixture
def ran(dsn, standalone, whole_python):
    """Runs a job on the standalone master, or locally, on a stored snapshot; gives the run and what was logged."""
    cluster, address = standalone
    masters = {"local": LOCAL, "standalone": on_master(address, whole_python)}

    def run(job, snapshot, where, run_id, **parameters):
        started(dsn, snapshot, run_id, parameters | ANY_AGE)
        done = cluster.submit(job, run_id, masters[where], ADVISOR_POSTGRES_DSN=dsn)
        assert done.returncode == 0, done.stdout[-4000:]
        return done.stdout

    return run


def answers(dsn, run_id):
    """All that a job leaves of which files are made."""
    with store.connect(dsn) as connection:
        document = store.load_advisory(connection, run_id)
        rows = {name: connection.execute(f"SELECT count(*) FROM store.{name}").fetchone() for name in SCORES}
    return {name: part for name, part in document.items() if name != "captured_at"}, rows


def test_a_job_answers_as_a_local_one_and_kernels_are_compiled_once_a_machine(dsn, standalone, ran, demo):
    """The second job on the same workers, another application, finds the first one's kernels."""
    cluster, _ = standalone
    few = replace(demo, groups=demo.groups[::4])
    options = {"leaders_only": True, "no_frontier": True, "scenarios": "today"}  # few kernels
    ran("replay_and_plan", few, "local", "run-1", **options)
    log = ran("replay_and_plan", few, "standalone", "run-2", **options)
    assert re.search(r"^groups: (\d+) of \1 \(100 %\) after \d+ s; done$", log, re.MULTILINE)
    assert "searches: 1 of 1 (100 %) after " in log
    assert COMPILED in cluster.executors_said()
    reported = cluster.executors_said().count(COMPILED)
    ran("replay_and_plan", few, "standalone", "run-3", **options)
    assert cluster.executors_said().count(COMPILED) == reported
    local, rows = answers(dsn, "run-1")
    assert all(count > (0,) for count in rows.values())
    assert local["plan"]["moves"]
    assert answers(dsn, "run-2")[0] == answers(dsn, "run-3")[0] == local


def test_what_the_store_holds_is_what_one_process_finds(dsn, ran, real_map):
    options = {"leaders_only": True, "no_frontier": True}
    ran("replay_and_plan", real_map, "standalone", "run", **options)
    with store.connect(dsn) as connection:
        plan = store.load_plan(connection, "run")
        alone = advise_run(read_question(connection, "run"), datetime.now(UTC))
    assert plan["moves"]
    assert plan == json.loads(json.dumps(alone.plan.document))


def test_a_search_that_fails_leaves_nothing_of_its_run(dsn, ran, real_map):
    """The replay in the same job may have gone well."""
    with pytest.raises(AssertionError, match="broker 999"):
        ran("replay_and_plan", real_map, "local", "run", remove_broker=[999], no_frontier=True)
    with store.connect(dsn) as connection:
        assert {connection.execute(f"SELECT count(*) FROM store.{name}").fetchone() for name in SCORES} == {(0,)}
