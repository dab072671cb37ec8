"""SIGKILL at five moments: readers see the last published advisory and nothing else, and running again succeeds.

Prints the table.
"""

from __future__ import annotations

import shutil
import time

import psycopg
import pytest

from stack.airflow.cluster_entries import write_entry
from stack.installed_code import CHECKOUT
from stack.waiting import wait_for
from tests.stack.by_hand import BY_HAND
from tests.stack.kills import five_moments
from tests.stack.kills.advisory_reader import Reader, seen_now
from tests.stack.kills.stack_processes import kill
from tests.stack.kills.supervision import PATIENCE_SECONDS, supervised

pytestmark = [pytest.mark.stack, pytest.mark.matrix]

CLUSTER = five_moments.CLUSTER
DAG = f"advise_{CLUSTER}"


@pytest.fixture
def cluster(machine):
    """The real map of 256 partitions, from a file that a test may take away."""
    file = five_moments.input_file(machine)
    shutil.copy(CHECKOUT / "tests" / "data" / "kafka-kit-256-partitions-23-brokers.json", file)
    write_entry(machine.clusters_file, CLUSTER, {"file": str(file)} | BY_HAND)


def advise(machine, seed):
    machine.airflow.client.wait_for_dag(DAG)
    form = {"snapshot": "fresh", "balance_within": 0.3, "seed": seed}
    return machine.airflow.client.trigger(DAG, form, run_id=f"kill-{seed}")


def finish(machine, run_id):
    """Follow a run to its end; returns its state."""
    for _ in machine.airflow.client.follow(DAG, run_id, 900):
        pass
    return machine.airflow.client.run_state(DAG, run_id)


def rows_left(machine, run_id):
    """Rows that the killed part has written under the run, unseen by readers."""
    with psycopg.connect(machine.dsn("advisor")) as connection:
        tables = ("broker_score", "topic_score", "plan", "move", "finding")
        counts = (
            connection.execute(
                f"SELECT count(*) FROM store.{table} JOIN store.run USING (run_key) WHERE run_id = %s",
                (f"{run_id}.{CLUSTER}",),
            ).fetchone()[0]
            for table in tables
        )
        return sum(counts)


def live_through(machine, moment, seed):
    """Kill at the moment, look, mend, let it run again; returns the row of the table."""
    began, last = time.monotonic(), seen_now(machine, CLUSTER)
    moment.before(machine)
    reader = Reader(machine, CLUSTER)
    reader.start()
    run_id = advise(machine, seed)
    pids = moment.reach(machine, run_id)
    assert pids, f"nothing to kill: {moment.name}"
    kill(pids)
    time.sleep(2)
    assert [answer for answer in reader.answers if answer != last] == []
    moment.mend(machine)
    assert seen_now(machine, CLUSTER) == last
    with supervised(machine):
        left = rows_left(machine, run_id)
        state = finish(machine, run_id)
        how = "by itself"
        if state != "success":
            how = "cleared once"
            machine.airflow.client.clear(DAG, run_id)
            state = finish(machine, run_id)
        assert state == "success"
        new = wait_for(
            "the new advisory", lambda: (now := seen_now(machine, CLUSTER)) != last and now, seconds=PATIENCE_SECONDS
        )
    reader.is_over.set()
    reader.join(PATIENCE_SECONDS)
    assert new[0][0] == f"{run_id}.{CLUSTER}"
    assert reader.answers in ([last, new], [last]), f"readers saw something in between: {reader.answers}"
    return (moment.name, moment.killed, "the last advisory", left, how, f"{time.monotonic() - began:.0f} s")


def test_whatever_is_killed_readers_see_the_last_advisory_and_running_again_succeeds(machine, cluster, capsys):
    assert finish(machine, advise(machine, 100)) == "success"
    (first,) = seen_now(machine, CLUSTER)
    assert first[0] == f"kill-100.{CLUSTER}"
    rows = [live_through(machine, moment, 101 + index) for index, moment in enumerate(five_moments.moments())]
    with capsys.disabled():
        tell(rows)


def tell(rows):
    head = ("SIGKILL at", "what", "readers saw", "rows left", "went on", "in")
    widths = [max(len(str(row[column])) for row in (head, *rows)) for column in range(len(head))]
    print()
    for row in (head, *rows):
        print("  ".join(str(cell).ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
