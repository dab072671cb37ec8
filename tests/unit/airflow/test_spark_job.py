"""A Spark job as it is really submitted, to a ``spark-submit`` that writes down what it was given."""

import json
import sys

import pytest

from kafka_rebalance.errors import UsageError

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

    def submit(job, code=0, **connection):
        from rebalance_advisor.airflow.spark_job import AdvisorSparkJob

        if connection:
            monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps({"conn_type": "spark", **connection}))
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


def test_a_standalone_master_is_one_setting_the_connection(submitted):
    _, arguments, _ = submitted("replay", host="spark://spark-master", port=7077)
    assert arguments[:4] == ["--master", "spark://spark-master:7077", "--name", "advisor-replay"]
    assert "--conf" not in arguments


def test_the_workers_python_and_settings_of_spark_stand_in_the_connections_extra(submitted):
    """The driver keeps its own Python."""
    conf = {"spark.executor.memory": "2g", "spark.cores.max": 8, "spark.speculation": True}
    extra = {"executor-python": "/opt/advisor/bin/python3", "conf": conf, "deploy-mode": "client"}
    _, arguments, _ = submitted("replay", host="spark://spark-master", port=7077, extra=extra)
    given = dict(arguments[place + 1].split("=", 1) for place, word in enumerate(arguments) if word == "--conf")
    assert given == {
        "spark.executor.memory": "2g", "spark.cores.max": "8", "spark.speculation": "true",
        "spark.pyspark.python": "/opt/advisor/bin/python3", "spark.pyspark.driver.python": sys.executable,
    }  # fmt: skip


@pytest.mark.parametrize(("extra", "place"), [({"conf": ["x=y"]}, "conf"), ({"executor-python": 3}, "executor-python")])
def test_an_extra_that_is_none_is_refused_with_its_place(submitted, extra, place):
    with pytest.raises(UsageError, match=f"^connection spark_default, extra, {place}: "):
        submitted("replay", host="local[*]", extra=extra)


def test_a_job_that_ends_badly_fails_the_task(submitted):
    with pytest.raises(Exception, match="Cannot execute: spark-submit"):
        submitted("search_plan", code=3)


def test_the_jobs_lie_beside_the_plugins_or_where_the_setting_says(monkeypatch, tmp_path):
    from rebalance_advisor.airflow.spark_job import JOBS_SETTING, jobs_folder

    monkeypatch.delenv(JOBS_SETTING, raising=False)
    assert sorted(path.stem for path in jobs_folder().glob("[a-z]*.py")) == ["replay", "score_keys", "search_plan"]
    monkeypatch.setenv(JOBS_SETTING, str(tmp_path))
    assert jobs_folder() == tmp_path
