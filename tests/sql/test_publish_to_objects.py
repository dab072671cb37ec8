"""Runs published to an object store, on a real Postgres and a real S3: killed, tried again, two at once, one late."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from kafka_rebalance.advisory.advise import AdviceRequest, advise
from kafka_rebalance.options.plan_options import PlanOptions
from rebalance_advisor import store
from rebalance_advisor.airflow.publishing import ObjectStoreTarget, publish_run
from stack.waiting import PATIENCE_S
from tests.object_storage import KilledError, Struck, latest, objects, publish_url, s3_connection
from tests.sql.test_publish_moments import snapshot, start

__all__ = ["objects", "publish_url", "s3_connection", "snapshot"]
pytestmark = pytest.mark.stack
ROOT = Path(__file__).parents[2]
KILLED_AT_THE_THIRD = """
import os, signal, sys
from rebalance_advisor.airflow.publishing import AirflowObjectStore
from rebalance_advisor.airflow.publishing import publish_target
from rebalance_advisor.airflow.publishing import publish_run

put, count = AirflowObjectStore.put, []

def third(store, key, content):
    count.append(key)
    if len(count) == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    put(store, key, content)

AirflowObjectStore.put = third
publish_run(sys.argv[1], run_id="killed", cluster="test", target=publish_target("test", "killed"))
"""


@pytest.fixture(scope="module")
def briefly() -> PlanOptions:
    return PlanOptions(within=0.1, moves_per_broker=4, with_frontier=False)


@pytest.fixture
def advice(snapshot, briefly):
    return advise(snapshot, AdviceRequest(briefly))


def publish(dsn: str, run_id: str, objects) -> str:
    _, address = publish_run(dsn, run_id=run_id, cluster="test", target=ObjectStoreTarget(objects, "test", run_id))
    return address


def newest(objects) -> str | None:
    manifest = latest(objects, "test")
    return None if manifest is None else manifest.run_id


@pytest.mark.parametrize("is_after", [False, True])
def test_killed_at_any_moment_latest_is_whole_and_a_retry_converges(
    connection, dsn, snapshot, advice, objects, is_after
):
    start(connection, snapshot, advice, "first")
    counting = Struck(objects)
    publish(dsn, "first", counting)
    for moment in sorted({1, 2, counting.changes - 1, counting.changes}):
        run_id, before = f"run-{moment}", newest(objects)
        start(connection, snapshot, advice, run_id)
        with pytest.raises(KilledError):
            publish(dsn, run_id, Struck(objects, moment, is_after=is_after))
        is_published = store.load_run(connection, run_id).status == "published"
        assert is_published == (moment == counting.changes), "the database's turn is between the files and the latest"
        assert newest(objects) == (run_id if is_published and is_after else before)
        address = publish(dsn, run_id, objects)
        assert (newest(objects), store.newest_published(connection, "test")) == (run_id, run_id)
        assert address == objects.address(f"test/{latest(objects, 'test').folder}")


@pytest.mark.slow
def test_a_process_killed_by_sigkill_leaves_the_advisory_before_and_no_lock(
    connection, dsn, snapshot, advice, objects, s3_connection
) -> None:
    start(connection, snapshot, advice, "first")
    publish(dsn, "first", objects)
    start(connection, snapshot, advice, "killed")
    environment = os.environ | {"PYTHONPATH": f"{ROOT / 'plugins'}:{ROOT}"}
    command = [sys.executable, "-c", KILLED_AT_THE_THIRD, dsn]
    ended = subprocess.run(command, env=environment, capture_output=True, check=False)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    assert len([key for key in objects.list("test/killed") if key.endswith(".json")]) >= 1
    assert newest(objects) == "first"
    publish(dsn, "killed", objects)
    assert newest(objects) == "killed"


def test_an_older_run_that_ends_late_never_takes_latest_back(connection, dsn, snapshot, advice, objects) -> None:
    start(connection, snapshot, advice, "older")
    start(connection, snapshot, advice, "newer")
    publish(dsn, "newer", objects)
    publish(dsn, "older", objects)
    assert newest(objects) == "newer"
    publish(dsn, "older", objects)  # cleared by somebody: tried again
    assert newest(objects) == "newer"


def test_two_at_once_wait_for_each_other_and_the_newer_one_is_the_latest(
    connection, dsn, snapshot, advice, objects
) -> None:
    """The older one is held back between asking whose turn it is and writing it down: without the lock it would win."""
    start(connection, snapshot, advice, "older")
    start(connection, snapshot, advice, "newer")
    is_asked, goes_on = threading.Event(), threading.Event()

    class Slow(Struck):
        def put(self, key: str, content: bytes) -> None:
            if key == "test/latest.json":
                is_asked.set()
                goes_on.wait(PATIENCE_S)
            self.store.put(key, content)

    older = threading.Thread(target=publish, args=(dsn, "older", Slow(objects)))
    older.start()
    assert is_asked.wait(PATIENCE_S)
    newer = threading.Thread(target=publish, args=(dsn, "newer", objects))
    newer.start()
    newer.join(0.5)
    assert newer.is_alive(), "waits"
    assert newest(objects) is None
    goes_on.set()
    older.join(PATIENCE_S)
    newer.join(PATIENCE_S)
    assert newest(objects) == "newer"


def test_another_cluster_does_not_wait(connection, dsn) -> None:
    held = """
        SELECT count(*) FROM pg_locks JOIN pg_database ON pg_database.oid = database
        WHERE locktype = 'advisory' AND granted AND datname = current_database()
    """
    with store.connect(dsn) as other, store.publishing(connection, "a"), store.publishing(other, "b"):
        assert other.execute(held).fetchone() == (2,)
    assert connection.execute(held).fetchone() == (0,)


def test_latest_json_is_what_docs_say(connection, dsn, snapshot, advice, objects) -> None:
    start(connection, snapshot, advice, "scheduled__2026-11-20T06:00:00+00:00.test")
    publish(dsn, "scheduled__2026-11-20T06:00:00+00:00.test", objects)
    document = json.loads(objects.read("test/latest.json"))
    assert document["run_id"] == "scheduled__2026-11-20T06:00:00+00:00.test"
    assert document["folder"].startswith("scheduled__2026-11-20=5406=3a00=3a00+00=3a00.test/")
    assert document["plan_id"] == advice.plan.plan_id
    assert {"plan.json", "report.html", "digest.md", "commands.md", "waves/01.json"} <= set(document["files"])
    assert set(document) == {"format", "cluster", "run_id", "plan_id", "folder", "written_at", "files"}
