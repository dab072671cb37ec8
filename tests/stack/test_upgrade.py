"""The version before, with a run under way, becomes this one: the run ends, the database moves forward, readers see
the advisory that was published last, and nothing else, all the while.

``make test-upgrade BEFORE=COMMIT``; left out, see ``version_before``. Needs the history of git.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import time
from io import BytesIO
from pathlib import Path

import pytest

from stack.airflow.cluster_entries import write_entry
from stack.installed_code import CHECKOUT
from stack.machine import Machine
from stack.postgres import server as postgres
from stack.waiting import wait_for
from tests.stack.by_hand import BY_HAND
from tests.stack.conftest import remove
from tests.stack.kills.advisory_reader import Reader, seen_now
from tests.stack.kills.supervision import PATIENCE_SECONDS
from tests.stack.kills.test_five_moments import CLUSTER, DAG, finish

pytestmark = [pytest.mark.stack, pytest.mark.matrix]

# Run by the version before, in its own folder: whatever its stack is like, it starts, waits for a word, and stops.
_BEFORE = """
import sys
from pathlib import Path
from stack.machine import Machine
machine = Machine(Path(sys.argv[1]))
machine.start()
print("up", flush=True)
sys.stdin.readline()
machine.airflow.stop()
print("stopped", flush=True)
"""


@pytest.fixture
def machine():
    """This version's; started by the version before."""
    made = Machine(CHECKOUT / ".run" / "test-upgrade")
    remove(made)
    made.run.mkdir(parents=True)
    yield made
    remove(made)


@pytest.fixture
def before(machine, tmp_path):
    """The version before, running."""
    commit = os.environ.get("BEFORE") or version_before()
    folder = tmp_path / "before"
    with tarfile.open(fileobj=BytesIO(git("archive", commit))) as archive:
        archive.extractall(folder, filter="data")
    (folder / ".run").mkdir()
    (folder / ".run" / "maven").symlink_to(CHECKOUT / ".run" / "maven")
    with subprocess.Popen(
        [its_python(folder), "-c", _BEFORE, str(machine.run)],
        cwd=folder, env=os.environ | {"PYTHONPATH": f"{folder / 'plugins'}:{folder}"},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout.readline() == "up\n"
        yield process
        process.kill()


def test_a_run_that_began_in_the_version_before_ends_in_this_one(machine, before, capsys):
    source = CHECKOUT / "tests" / "data" / "kafka-kit-256-partitions-23-brokers.json"
    write_entry(machine.clusters_file, CLUSTER, {"file": str(source)} | BY_HAND)
    client = machine.airflow.client
    client.wait_for_dag(DAG)
    assert finish(machine, triggered(machine, "first")) == "success"
    first = seen_now(machine, CLUSTER)
    reader = Reader(machine, CLUSTER)
    reader.start()

    run_id = triggered(machine, "across")
    wait_for("the run's first task", lambda: "running" in states(client, run_id).values(), seconds=PATIENCE_SECONDS)
    reported = migrated(machine)
    at_migration = states(client, run_id)
    wait_for(
        "half of the run", lambda: list(states(client, run_id).values()).count("success") >= 3, seconds=PATIENCE_SECONDS
    )
    at_change = states(client, run_id)
    before.stdin.write("stop\n")
    before.stdin.flush()
    assert before.stdout.readline() == "stopped\n"
    machine.start()
    assert finish(machine, run_id) == "success"
    across = wait_for(
        "the new advisory", lambda: (now := seen_now(machine, CLUSTER)) != first and now, seconds=PATIENCE_SECONDS
    )
    assert finish(machine, triggered(machine, "after")) == "success"
    after = wait_for(
        "the next advisory", lambda: (now := seen_now(machine, CLUSTER)) != across and now, seconds=PATIENCE_SECONDS
    )
    reader.is_over.set()
    reader.join(PATIENCE_SECONDS)
    assert [answer for answer in reader.answers if answer not in (first, across, after)] == []
    assert (reader.refused, across[0][0], after[0][0]) == ([], f"across.{CLUSTER}", f"after.{CLUSTER}")
    with capsys.disabled():
        print(f"\n{reported}\nat migration: {at_migration}\nat the change of code: {at_change}")


def triggered(machine, run_id):
    machine.airflow.client.wait_for_dag(DAG)
    return machine.airflow.client.trigger(DAG, {"snapshot": "fresh", "balance_within": 0.3}, run_id=run_id)


def states(client, run_id):
    """By task."""
    return {task["task_id"]: task["state"] for task in client.task_instances(DAG, run_id)}


def migrated(machine):
    """The database by this version's command, while the other one's tasks go on."""
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "rebalance_advisor.store"],
        env=os.environ | {postgres.SETTING: machine.dsn("advisor"), "PYTHONPATH": str(CHECKOUT / "plugins")},
        capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=True,
    )  # fmt: skip
    return f"{done.stdout.strip()}, in {time.monotonic() - began:.1f} s"


def its_python(folder):
    """Where its lock is another one, an environment of its own: it may need packages that this version gave up."""
    if (folder / "uv.lock").read_bytes() == (CHECKOUT / "uv.lock").read_bytes():
        return sys.executable
    extras = ("--all-extras", "--no-extra", "kerberos")
    environment = {name: value for name, value in os.environ.items() if name != "VIRTUAL_ENV"}
    subprocess.run(
        [Path(sys.executable).with_name("uv"), "sync", "--frozen", "--quiet", *extras, "--python", sys.executable],
        cwd=folder, env=environment | {"UV_PROJECT_ENVIRONMENT": str(folder / ".venv")}, check=True,
        timeout=3 * PATIENCE_SECONDS,
    )  # fmt: skip
    return str(folder / ".venv" / "bin" / "python")


def version_before():
    """Return the commit before the newest migration; while the schema is the only one, the last one that changed it."""
    *_, newest = sorted((CHECKOUT / "sql" / "migrations").glob("*.sql"))
    changed = git("log", "-1", "--format=%H", "--", str(newest)).decode().strip()
    return changed if newest.name.startswith("0001_") else f"{changed}^"


def git(*arguments):
    return subprocess.run(["git", "-C", str(CHECKOUT), *arguments], capture_output=True, check=True).stdout
