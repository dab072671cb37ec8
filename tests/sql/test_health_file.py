"""The command and the task write the same file from the store, and failed tasks are told there."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from rebalance_advisor import store
from rebalance_advisor.cli.health.command import add_arguments
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
    return {one.name: one.value for family in families for one in family.samples if one.labels == NAMES}


def failed(known, words: str = "no broker answered") -> None:
    from rebalance_advisor.airflow.health.failed_tasks import failure_recorder

    instance = SimpleNamespace(dag_id="collect_prod", task_id="collect", run_id="r")
    failure_recorder("prod")({"ti": instance, "exception": ConnectionError(words)})


def test_the_command_and_the_task_write_what_the_view_says(known, tmp_path, capsys) -> None:
    from rebalance_advisor.airflow.health.health_task import write_health

    failed(known)
    assert COMMANDS["health"][0] == add_arguments.__module__
    assert main(["health"]) == 0
    printed = values(capsys.readouterr().out)
    assert printed["advisor_task_failures"] == 1
    assert main(["health", "--output", str(tmp_path / "advisor.prom")]) == 0
    assert values((tmp_path / "advisor.prom").read_text()) == printed
    with open(write_health.function()) as file:
        assert values(file.read()) == printed
    (line,) = load_health(known)
    assert line.last_reading_at.timestamp() == printed["advisor_last_reading_timestamp_seconds"]


def test_a_file_that_cannot_be_written_is_told_before_the_store_is_asked(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setenv("ADVISOR_POSTGRES_DSN", "postgresql://nobody@127.0.0.1:1/none")
    assert main(["health", "--output", str(tmp_path)]) == 2
    assert "is a folder" in capsys.readouterr().err
    assert main(["health"]) == 1
    assert "cannot connect to the advisor's database" in capsys.readouterr().err


def test_a_failed_task_leaves_its_last_words(known) -> None:
    failed(known)
    found = known.execute("SELECT cluster, dag, task, dag_run, words FROM advisor.task_failure").fetchall()
    assert found == [("prod", "collect_prod", "collect", "r", "ConnectionError: no broker answered")]


def test_a_store_that_is_away_does_not_hide_the_failure(monkeypatch, caplog) -> None:
    monkeypatch.setenv("AIRFLOW_CONN_ADVISOR_POSTGRES", "postgresql://nobody@127.0.0.1:1/none")
    failed(None)
    assert "the failure is not in the store: cannot connect" in caplog.text


def test_the_reader_may_write_the_file(known) -> None:
    with known.transaction():
        known.execute("SET LOCAL ROLE advisor_reader")
        assert len(load_health(known)) == 1
