"""The command and the task write the same file from the store, and failed tasks are told there."""

from __future__ import annotations

import time
from types import SimpleNamespace

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from rebalance_advisor import store
from rebalance_advisor.cli.health import add_arguments
from rebalance_advisor.cli.main import COMMANDS, main
from rebalance_advisor.store.health import load_health
from tests.sql.sample_clusters import plain_snapshot

pytestmark = [pytest.mark.stack, pytest.mark.usefixtures("airflow_home")]
NAMES = {"cluster": "prod"}


@pytest.fixture
def known(connection, dsn, monkeypatch):
    """A store that knows one cluster, under the names that shell and Airflow have for it."""
    store.mark_snapshot(connection, store.save_snapshot(connection, plain_snapshot()), is_blocked=False)
    monkeypatch.setenv("ADVISOR_POSTGRES_DSN", dsn)
    monkeypatch.setenv("AIRFLOW_CONN_ADVISOR_POSTGRES", dsn)
    return connection


def values(text: str) -> dict[str, float]:
    families = text_string_to_metric_families(text)
    return {sample.name: sample.value for family in families for sample in family.samples if sample.labels == NAMES}


@pytest.fixture
def recorder(known, tmp_path, monkeypatch):
    """Airflow's listener, with a list of clusters that names ``prod`` and one whose table is wrong."""
    from rebalance_advisor.airflow.health import FailureRecorder

    (tmp_path / "clusters.toml").write_text('[clusters.prod]\nconnection = "c"\n[clusters.odd]\n')
    monkeypatch.setenv("ADVISOR_CLUSTERS_FILE", str(tmp_path / "clusters.toml"))
    return FailureRecorder()


def ended(recorder, dag_id="collect_prod", state="failed", before="running", error="no broker answered", **more):
    """A task of ours as its own process tells of it; ``more``: a conf, as the scheduler tells of it."""
    instance = SimpleNamespace(dag_id=dag_id, task_id="collect", run_id="r", state=state)
    if more:
        instance = InScheduler(**vars(instance), dag_run=SimpleNamespace(**more))
    recorder.on_task_instance_failed(before, instance, ConnectionError(error) if not more else error)


class InScheduler(SimpleNamespace):
    __module__ = "airflow.models.taskinstance"


def recorded(known) -> list[tuple[str, str]]:
    return known.execute("SELECT dag, message FROM advisor.task_failure ORDER BY message").fetchall()


def test_a_task_that_no_retry_follows_is_recorded_in_its_own_process(known, recorder) -> None:
    ended(recorder)
    ended(recorder, "advise_odd")  # its table is wrong by now
    for others in ("other_prod", "collect_stranger", "collect", "what_if_prod"):
        ended(recorder, others)
    ended(recorder, state="up_for_retry")
    ended(recorder, before=None)  # somebody marked it as failed
    text = "ConnectionError: no broker answered"
    assert sorted(recorded(known)) == [("advise_odd", text), ("collect_prod", text)]


def test_the_scheduler_does_not_wait_for_the_store_and_names_the_number_that_cannot_be(known, recorder) -> None:
    ended(recorder, error="executor reported that the task failed", conf={"x": {"y": [1, True, "a", 2**64]}})
    ended(recorder, error="killed", conf={"x": 2**64 - 1, "y": -(2**63), "z": None})
    ended(recorder, error="lost", conf={"x": -(2**63) - 1})
    deadline = time.monotonic() + 60
    while len(failures := [text for _, text in recorded(known)]) < 3:
        assert time.monotonic() < deadline, f"waited for three failures: {failures}"
        time.sleep(0.05)
    reported = "Airflow could not start collect: the run's conf holds {}, a whole number that does not fit into 64 bits"
    assert [text.partition(". ")[0] for text in failures] == [
        reported.format("-9223372036854775809"), reported.format("18446744073709551616"), "killed",
    ]  # fmt: skip


def test_a_store_that_is_away_does_not_hide_the_failure(recorder, monkeypatch, caplog) -> None:
    monkeypatch.setenv("AIRFLOW_CONN_ADVISOR_POSTGRES", "postgresql://nobody@127.0.0.1:1/none")
    ended(recorder)
    assert "collect_prod, collect: the failure is not in the store: cannot connect" in caplog.text


def test_the_command_and_the_task_write_what_the_view_says(known, recorder, tmp_path, capsys) -> None:
    from rebalance_advisor.airflow.health import write_health

    ended(recorder)
    assert COMMANDS["health"][0] == add_arguments.__module__
    assert main(["health"]) == 0
    printed = values(capsys.readouterr().out)
    assert printed["advisor_task_failures"] == 1
    assert main(["health", "--output", str(tmp_path / "advisor.prom")]) == 0
    assert values((tmp_path / "advisor.prom").read_text()) == printed
    with open(write_health.function()) as file:
        assert values(file.read()) == printed
    (line,) = load_health(known)
    assert line.last_snapshot_at.timestamp() == printed["advisor_last_reading_timestamp_seconds"]


def test_a_run_whose_table_was_removed_is_failed_and_no_other_one(known, tmp_path, monkeypatch) -> None:
    from rebalance_advisor.airflow.health import write_health

    file = tmp_path / "clusters.toml"
    monkeypatch.setenv("ADVISOR_CLUSTERS_FILE", str(file))
    snapshot_id = store.latest_snapshot_id(known, "prod")
    for run_id in ("scheduled__1.prod", "another_airflows.prod"):
        store.start_run(known, run_id=run_id, cluster="prod", snapshot_id=snapshot_id)
    known_runs = {("advise_prod", "scheduled__1")}
    instance = SimpleNamespace(
        get_dr_count=lambda dag, run_ids: sum((dag, run_id) in known_runs for run_id in run_ids)
    )  # Airflow's own answers only inside a task that it runs
    states = "SELECT run_id, state, failure FROM advisor.run_attempt ORDER BY run_id"
    # The table is there, it is wrong and may be mended, and the whole list cannot be read.
    for text in ("[clusters.prod]\nfile = 'a'\n", "[clusters.prod]\nfil = 'a'\n", "[clusters"):
        file.write_text(text)
        write_health.function(ti=instance)
        assert [state for _, state, _ in known.execute(states)] == ["running", "running"]
    file.write_text("[clusters.other]\nfile = 'a'\n")
    for _ in range(2):
        write_health.function(ti=instance)
    other, removed = known.execute(states).fetchall()
    assert other[:2] == ("another_airflows.prod", "running")
    assert removed[:2] == ("scheduled__1.prod", "failed")
    assert removed[2].startswith(f"[clusters.prod] was removed from {file} during the run")
    assert known.execute("SELECT count(*) FROM advisor.task_failure").fetchone() == (1,)


def test_a_file_that_cannot_be_written_is_told_before_the_store_is_asked(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setenv("ADVISOR_POSTGRES_DSN", "postgresql://nobody@127.0.0.1:1/none")
    assert main(["health", "--output", str(tmp_path)]) == 2
    assert "is a folder" in capsys.readouterr().err
    assert main(["health"]) == 1
    assert "cannot connect to the advisor's database" in capsys.readouterr().err


def test_the_reader_may_write_the_file(known) -> None:
    with known.transaction():
        known.execute("SET LOCAL ROLE advisor_reader")
        assert len(load_health(known)) == 1
