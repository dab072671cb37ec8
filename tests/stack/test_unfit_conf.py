"""A conf that Airflow itself cannot hand to a task fails its run in words, and ends no component of Airflow."""

import os
import signal
import time

import psycopg
import pytest

from stack.airflow.client import AirflowApiError
from stack.airflow.cluster_entries import write_entry
from stack.installed_code import CHECKOUT
from tests.stack.by_hand import BY_HAND

pytestmark = [pytest.mark.stack, pytest.mark.slow, pytest.mark.timeout(1800)]

MAP = CHECKOUT / "tests" / "data" / "kafka-kit-256-partitions-23-brokers.json"
PATIENCE_S = 300
DAG = "advise_unfit"


@pytest.fixture
def client(machine):
    write_entry(machine.clusters_file, "unfit", {"file": str(MAP), "retries": 0} | BY_HAND)
    made = machine.airflow.client
    made.wait_for_dag(DAG)
    return made


def wait_for(what, condition):
    deadline = time.monotonic() + PATIENCE_S
    while not (result := condition()):
        assert time.monotonic() < deadline, f"waited for {what}"
        time.sleep(0.5)
    return result


def last_failure(machine):
    with psycopg.connect(machine.dsn("advisor")) as connection:
        connection.execute("SET ROLE advisor_reader")
        query = "SELECT message FROM advisor.task_failure WHERE dag = %s ORDER BY failed_at DESC LIMIT 1"
        return connection.execute(query, [DAG]).fetchone()


def test_a_number_that_fits_no_task_fails_its_run_in_words_and_the_dag_processor_lives(machine, client):
    with pytest.raises(AirflowApiError, match="18446744073709551616") as refused:
        client.trigger(DAG, {"remove_broker": [2**64]})
    assert refused.value.status == 400
    before = {name: program.pid for name, program in machine.airflow.programs.items()}
    run_id = client.trigger(DAG, {"unknown": {"list": [2**64]}})
    for _ in client.follow(DAG, run_id, PATIENCE_S):
        pass
    assert client.run_state(DAG, run_id) == "failed"
    (text,) = wait_for("the failure in the store", lambda: last_failure(machine))
    assert text.startswith(
        "Airflow could not start check_request: the run's conf holds 18446744073709551616, a whole number that does not"
    )
    # It reads another file of clusters after that: whatever was sent to it has been dealt with.
    write_entry(machine.clusters_file, "after-unfit", {"file": str(MAP)} | BY_HAND)
    client.wait_for_dag("advise_after-unfit")
    assert {name: program.pid for name, program in machine.airflow.programs.items()} == before


def test_a_component_that_ends_is_started_again_where_make_up_watches(machine):
    processor = machine.airflow.programs["dag-processor"]
    before = processor.pid
    machine.watch()
    try:
        os.kill(before, signal.SIGKILL)
        wait_for("the dag-processor to run again", lambda: processor.pid not in (None, before))
        assert "dag-processor ended and is started again" in machine.watcher.log_tail()
        machine.airflow.wait_until_ready()
    finally:
        machine.stop_watching()
