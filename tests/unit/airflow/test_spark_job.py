"""A Spark job as it is really submitted, to a ``spark-submit`` that writes down what it was given."""

import json

import pytest

pytestmark = [
    pytest.mark.stack,
    pytest.mark.usefixtures("airflow_home"),
    # Airflow's hook leaves the end of the pipe that it read the job's output from to the garbage collector.
    pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning"),
]

SUBMIT = """#!/bin/sh
printf '%s\\n' "$@" > "{folder}/arguments"
printf '%s' "$ADVISOR_POSTGRES_DSN" > "{folder}/dsn"
exit {code}
"""


@pytest.fixture
def submitted(tmp_path, monkeypatch):
    """Submits a job with a ``spark-submit`` that ends with ``code``; gives its arguments and the store's address."""
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps({"conn_type": "spark", "host": "local[*]"}))
    store = {"conn_type": "postgres", "login": "etl", "password": "secret", "host": "db"}
    monkeypatch.setenv("AIRFLOW_CONN_ADVISOR_POSTGRES", json.dumps(store))
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")

    def submit(job, code=0):
        from rebalance_advisor.airflow.spark_job import AdvisorSparkJob

        (tmp_path / "spark-submit").write_text(SUBMIT.format(folder=tmp_path, code=code))
        (tmp_path / "spark-submit").chmod(0o755)
        operator = AdvisorSparkJob(job=job, run_id="manual.1.prod")
        operator.execute({})
        return operator, (tmp_path / "arguments").read_text().splitlines(), (tmp_path / "dsn").read_text()

    return submit


def test_the_store_is_named_in_the_environment_and_in_no_argument(submitted):
    operator, arguments, dsn = submitted("replay")
    assert operator.task_id == "replay"
    assert arguments[:4] == ["--master", "local[*]", "--name", "advisor-replay"]
    assert arguments[4].endswith("/spark_jobs/replay.py")
    assert arguments[5:] == ["--run-id", "manual.1.prod"]
    assert dsn == "postgresql://etl:secret@db:5432/advisor"
    assert "secret" not in " ".join(arguments)


def test_a_job_that_ends_badly_fails_the_task(submitted):
    with pytest.raises(Exception, match="Cannot execute: spark-submit"):
        submitted("search_plan", code=3)


def test_the_jobs_lie_beside_the_plugins_or_where_the_setting_says(monkeypatch, tmp_path):
    from rebalance_advisor.airflow.spark_job import JOBS_SETTING, jobs_folder

    monkeypatch.delenv(JOBS_SETTING, raising=False)
    assert sorted(path.stem for path in jobs_folder().glob("[a-z]*.py")) == ["replay", "search_plan"]
    monkeypatch.setenv(JOBS_SETTING, str(tmp_path))
    assert jobs_folder() == tmp_path
