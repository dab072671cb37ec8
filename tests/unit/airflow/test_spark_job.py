import json
import os
import queue
import re
import signal
import sys
import threading
from pathlib import Path

import psutil
import pytest
from psycopg.conninfo import conninfo_to_dict

from kafka_rebalance.errors import UsageError
from rebalance_advisor.airflow.spark import (
    JobInterruptedError,
    Submission,
    SubmitError,
    memory_mib,
    spark_connection,
    spark_submit,
)
from stack.waiting import PATIENCE_S

pytestmark = [pytest.mark.stack, pytest.mark.usefixtures("airflow_home")]

SUBMIT = """#!/bin/sh
printf '%s\\n' "$@" > "{folder}/arguments"
printf '%s' "$ADVISOR_POSTGRES_DSN" > "{folder}/dsn"
while [ "$1" != --properties-file ]; do shift; done
cp "$2" "{folder}/settings" && stat -c %a "$2" > "{folder}/mode"
echo "begins"
echo "numba is missing" >&2
exit {code}
"""


@pytest.fixture
def submitted(tmp_path, monkeypatch):
    """Submits a job with a ``spark-submit`` that ends with ``code``; gives its arguments and the store's address."""
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps({"conn_type": "spark", "host": "local[*]"}))
    store = {"conn_type": "postgres", "login": "etl", "password": "secret", "host": "db"}
    monkeypatch.setenv("AIRFLOW_CONN_ADVISOR_POSTGRES", json.dumps(store))
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")

    def submit(job, code=0, partition_count=100, **connection):
        from rebalance_advisor.airflow.spark import AdvisorSparkJob

        if connection:
            monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps({"conn_type": "spark"} | connection))
        (tmp_path / "spark-submit").write_text(SUBMIT.format(folder=tmp_path, code=code))
        (tmp_path / "spark-submit").chmod(0o755)
        operator = AdvisorSparkJob(job=job, run_id="manual.1.prod", partition_count=partition_count)
        operator.execute({})
        arguments = (tmp_path / "arguments").read_text().splitlines()
        index = arguments.index("--properties-file")
        assert not Path(arguments[index + 1]).exists()
        assert (tmp_path / "mode").read_text() == "600\n"
        assert arguments[index + 2] == "--load-spark-defaults"
        del arguments[index : index + 3]
        return operator, arguments, (tmp_path / "dsn").read_text()

    return submit


@pytest.fixture
def settings(tmp_path):
    """Content of the job's settings file."""

    def read():
        lines = (tmp_path / "settings").read_text().splitlines()
        return dict(re.sub(r"\\(.)", r"\1", line).split("=", 1) for line in lines)

    return read


def test_the_store_is_named_in_the_environment_and_in_no_argument(submitted):
    operator, arguments, dsn = submitted("replay_and_plan")
    assert operator.task_id == "replay_and_plan"
    assert arguments[:2] == ["--master", "local[*]"]
    assert arguments[4:6] == ["--name", "advisor-replay_and_plan"]
    assert arguments[6].endswith("/spark_jobs/replay_and_plan.py")
    assert arguments[7:] == ["--run-id", "manual.1.prod"]
    assert conninfo_to_dict(dsn) == {"user": "etl", "password": "secret", "host": "db", "dbname": "advisor"}
    assert "secret" not in " ".join(arguments)


def test_a_standalone_master_is_one_setting_the_connection(submitted, settings):
    _, arguments, _ = submitted("replay_and_plan", host="spark://spark-master", port=7077)
    assert arguments[:2] == ["--master", "spark://spark-master:7077"]
    assert settings() == {"spark.ui.enabled": "false"}


def test_a_local_driver_listens_on_loopback_and_no_driver_has_a_page_unless_the_connection_says_so(submitted, settings):
    for master in ("local", "local[*]", "local[4,2]", "local-cluster[2,1,512]"):
        submitted("replay_and_plan", host=master)
        assert settings() == {
            "spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1",
        }  # fmt: skip
    submitted("replay_and_plan", host="local[*]", extra={"conf": {"spark.ui.enabled": True, "spark.driver.host": "h"}})
    assert settings() == {
        "spark.ui.enabled": "true", "spark.driver.host": "h", "spark.driver.bindAddress": "127.0.0.1",
    }  # fmt: skip


def test_no_setting_stands_on_the_command_line(submitted, settings):
    conf = {"spark.authenticate.secret": " s3cret: =#!\\", "spark.ssl.keyPassword": "s3cret"}
    _, arguments, _ = submitted("replay_and_plan", host="spark://m", port=7077, extra={"conf": conf})
    assert "s3cret" not in " ".join(arguments)
    assert settings() == {"spark.ui.enabled": "false", **conf}


@pytest.mark.parametrize(
    ("partition_count", "memory"), [(0, "1024m"), (131_072, "1024m"), (131_328, "1025m"), (333_333, "1814m")]
)
def test_a_drivers_memory_follows_the_size_of_the_reading(submitted, partition_count, memory):
    _, arguments, _ = submitted("replay_and_plan", partition_count=partition_count)
    assert arguments[2:4] == ["--driver-memory", memory]


def test_a_run_that_the_version_before_started_tells_no_size_and_goes_on(submitted):
    _, arguments, _ = submitted("replay_and_plan", partition_count=None)
    assert arguments[:4] == ["--master", "local[*]", "--name", "advisor-replay_and_plan"]


def test_a_drivers_memory_is_at_least_what_spark_gives_and_grows_with_every_partition():
    sizes = [memory_mib(count) for count in range(0, 2_000_000, 10_000)]
    assert sizes[0] == 1_024
    assert sizes == sorted(sizes)
    assert 8_000 < memory_mib(2_000_000) < 8_500


def test_a_drivers_memory_is_that_of_the_connection_where_it_names_it(submitted, settings):
    extra = {"conf": {"spark.driver.memory": "3g"}}
    _, arguments, _ = submitted("replay_and_plan", partition_count=10**6, host="local[*]", extra=extra)
    assert "--driver-memory" not in arguments
    assert settings()["spark.driver.memory"] == "3g"


def test_the_workers_python_and_settings_of_spark_stand_in_the_connections_extra(submitted, settings):
    """The driver keeps its own Python."""
    conf = {"spark.executor.memory": "2g", "spark.cores.max": 8, "spark.speculation": True}
    extra = {"executor-python": "/opt/advisor/bin/python3", "conf": conf, "deploy-mode": "client"}
    submitted("replay_and_plan", host="spark://spark-master", port=7077, extra=extra)
    assert settings() == {
        "spark.ui.enabled": "false",
        "spark.executor.memory": "2g", "spark.cores.max": "8", "spark.speculation": "true",
        "spark.pyspark.python": "/opt/advisor/bin/python3", "spark.pyspark.driver.python": sys.executable,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("extra", "location"), [({"conf": ["x=y"]}, "conf"), ({"executor-python": 3}, "executor-python")]
)
def test_an_extra_that_is_none_is_refused_with_its_place(submitted, extra, location):
    from airflow.sdk.exceptions import AirflowFailException

    with pytest.raises(AirflowFailException, match=f"^connection spark_default, extra, {location}: "):
        submitted("replay_and_plan", host="local[*]", extra=extra)


def test_a_job_that_ends_badly_fails_the_task_for_good(submitted):
    from airflow.sdk.exceptions import AirflowFailException

    with pytest.raises(
        AirflowFailException, match=r"^spark-submit ended with code 3; its last line: numba is missing$"
    ):
        submitted("replay_and_plan", code=3)


@pytest.mark.parametrize("code", [75, 137, 143])
def test_a_job_that_time_can_mend_or_that_was_killed_is_left_to_the_retries(submitted, code):
    with pytest.raises(JobInterruptedError, match=f"^spark-submit ended with code {code}; "):
        submitted("replay_and_plan", code=code)


def test_its_lines_are_the_tasks_log(submitted, caplog):
    with caplog.at_level("INFO"):
        submitted("replay_and_plan")
    lines = [record.getMessage() for record in caplog.records]
    assert lines[-3:] == [
        "spark-submit of replay_and_plan.py for run manual.1.prod to local[*]",
        "begins",
        "numba is missing",
    ]


def test_a_driver_elsewhere_gets_the_stores_address_by_a_secret_or_not_at_all(submitted, settings):
    from airflow.sdk.exceptions import AirflowFailException

    extra = {"deploy-mode": "cluster", "namespace": "advisor"}
    with pytest.raises(
        AirflowFailException, match="a driver elsewhere has no ADVISOR_POSTGRES_DSN; use client, or on Kubernetes"
    ):
        submitted("replay_and_plan", host="k8s://https://api", port=6443, extra=extra)
    secret = {"spark.kubernetes.driver.secretKeyRef.ADVISOR_POSTGRES_DSN": "advisor:dsn"}
    _, arguments, _ = submitted("replay_and_plan", host="k8s://https://api", port=6443, extra=extra | {"conf": secret})
    assert arguments[:4] == ["--master", "k8s://https://api:6443", "--deploy-mode", "cluster"]
    assert settings()["spark.kubernetes.namespace"] == "advisor"
    assert "secret@" not in " ".join(arguments)


@pytest.mark.parametrize(
    ("address", "master"),
    [
        ({"host": "yarn"}, "yarn"),
        ({"conn_type": "yarn"}, "yarn"),
        ({"conn_type": "generic", "host": "spark://a,b", "port": 7077}, "spark://a,b:7077"),
        ({"conn_type": "spark", "host": "a", "port": 7077}, "spark://a:7077"),
        ({"conn_type": "k8s", "host": "api", "port": 443}, "k8s://api:443"),
    ],
)
def test_each_way_of_writing_a_master(submitted, address, master):
    _, arguments, _ = submitted("replay_and_plan", **address)
    assert arguments[:2] == ["--master", master]


def test_a_connection_without_a_master_is_refused(submitted):
    from airflow.sdk.exceptions import AirflowFailException

    with pytest.raises(AirflowFailException, match="connection spark_default, host: names no master"):
        submitted("replay_and_plan", extra={"queue": "q"})
    with pytest.raises(UsageError, match="names no master"):
        spark_connection("spark_default", "ADVISOR_POSTGRES_DSN")


def test_where_no_spark_is_it_is_said(submitted, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sys.executable", str(tmp_path / "python3"))
    with pytest.raises(SubmitError, match="no spark-submit on the PATH and none beside"):
        spark_submit()
    (tmp_path / "spark-submit").write_text("#!/bin/sh")
    (tmp_path / "spark-submit").chmod(0o755)
    assert spark_submit() == str(tmp_path / "spark-submit")


def test_a_task_that_is_ended_ends_its_job_and_what_that_started(monkeypatch, tmp_path):
    (tmp_path / "spark-submit").write_text("#!/bin/sh\nsleep 300 &\necho $!\nwait\n")
    (tmp_path / "spark-submit").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    submission, children, ended = Submission(), queue.Queue(), []

    def run():
        try:
            submission.run([], {}, children.put)
        except SubmitError as error:
            ended.append(str(error))

    thread = threading.Thread(target=run)
    thread.start()
    child = int(children.get(timeout=PATIENCE_S))
    assert psutil.pid_exists(child)
    submission.end()
    thread.join(timeout=PATIENCE_S)
    (text,) = ended
    assert text.startswith("spark-submit was ended with code ")
    assert not psutil.pid_exists(child) or psutil.Process(child).status() == psutil.STATUS_ZOMBIE


def test_a_job_ends_with_a_task_that_ran_out_of_time(monkeypatch, tmp_path):
    """Airflow raises its timeout in the task's thread and calls ``on_kill`` only after that."""
    script = "#!/bin/sh\nchild() { sleep 60; touch finished; }\nchild &\necho begun\nwait\n"
    (tmp_path / "spark-submit").write_text(script)
    (tmp_path / "spark-submit").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.chdir(tmp_path)

    def run_out_of_time(line: str) -> None:
        raise TimeoutError(line)

    with pytest.raises(TimeoutError, match="begun"):
        Submission().run([], {}, run_out_of_time)
    assert not (tmp_path / "finished").exists()


def test_a_job_that_has_ended_is_not_waited_for_because_of_what_it_left_behind(monkeypatch, tmp_path):
    """Orphans of Spark's Python workers may hold its output open for minutes."""
    script = (
        "#!/bin/sh\nsleep 1200 &\necho $! > left\necho 'first'\n"
        "printf 'gr\\303\\274n, without an end of line'\nexit 3\n"
    )
    (tmp_path / "spark-submit").write_text(script)
    (tmp_path / "spark-submit").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path)
    lines = []
    try:
        with pytest.raises(SubmitError, match=r"^spark-submit ended with code 3; its last line: grün, without an end"):
            Submission().run([], {}, lines.append)
        assert psutil.Process(int((tmp_path / "left").read_text())).status() != psutil.STATUS_ZOMBIE
        assert lines == ["first", "grün, without an end of line"]
    finally:
        os.kill(int((tmp_path / "left").read_text()), signal.SIGKILL)


def test_a_job_that_is_ended_has_not_succeeded_whatever_its_code(monkeypatch, tmp_path):
    (tmp_path / "spark-submit").write_text("#!/bin/sh\ntrap 'exit 0' TERM\nsleep 300 &\necho $!\nwait\n")
    (tmp_path / "spark-submit").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    submission = Submission()
    with pytest.raises(SubmitError, match="was ended with code 0"):
        submission.run([], {}, lambda _: submission.end())


def test_the_jobs_lie_beside_the_plugins_or_where_the_setting_says(monkeypatch, tmp_path):
    from rebalance_advisor.airflow.spark import JOBS_SETTING, jobs_folder

    monkeypatch.delenv(JOBS_SETTING, raising=False)
    assert sorted(path.stem for path in jobs_folder().glob("[a-z]*.py")) == ["replay_and_plan", "score_keys"]
    monkeypatch.setenv(JOBS_SETTING, str(tmp_path))
    assert jobs_folder() == tmp_path
