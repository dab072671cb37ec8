import pytest

from rebalance_advisor.spark.executor_error import ExecutorError, executor_error
from rebalance_advisor.spark.worker_start import MARK, OUR_CODE

LOST = "Job aborted due to stage failure: Task 0 in stage 0.0 failed 4 times, most recent failure: Lost task 0.3 in "
LOST += "stage 0.0 (TID 3) (10.1.2.3 executor 0): org.apache.spark.api.python.PythonException: Traceback (most recent "
LOST += "call last):\n"


def test_hosts_with_the_same_lack_are_told_together():
    findings = [
        (host, "/opt/bin/python3", "numba", "missing", "0.68.1") for host in ("worker-2", "worker-1", "worker-2")
    ]
    assert str(ExecutorError.of(findings)) == (
        "Spark executor on worker-1, worker-2: numba is missing, 0.68.1 is needed: "
        "install numba==0.68.1 in /opt/bin/python3"
    )


def test_each_lack_is_told_and_our_code_may_travel():
    code = ("a", "/py", OUR_CODE, "one of 0123456789ab", "0.1.0 of ba9876543210")
    message = str(ExecutorError.of([("a", "/py", "numpy", "1.26.4", "2.4.6"), code]))
    ours, numpy = message.split("; ")
    assert ours.startswith("Spark executor on a: kafka-rebalance-advisor is one of 0123456789ab, 0.1.0 of ba987654")
    assert "ADVISOR_SPARK_CODE=installed" in ours
    assert numpy == "Spark executor on a: numpy is 1.26.4, 2.4.6 is needed: install numpy==2.4.6 in /py"


@pytest.mark.parametrize(("end", "expected"), [
    (
        ("pyspark.errors.exceptions.base.PySparkRuntimeError: [PYTHON_VERSION_MISMATCH] Python in worker has different "
        "version: 3.12 than that in driver: 3.11, PySpark cannot run with different minor versions."),
        "10.1.2.3: Python is 3.12, 3.11 is needed, as the driver has it: ",
    ),
    (
        'java.io.IOException: Cannot run program "/opt/none/python": Exec failed, error: 2 (No such file)',
        "10.1.2.3: no Python can be started as '/opt/none/python': ",
    ),
    ("ModuleNotFoundError: No module named 'pyarrow'\n", "10.1.2.3: pyarrow is missing: install it in "),
    (
        f'  File "x.py", line 1\nRuntimeError: {MARK}[["w", "/py", "numba", "missing", "0.68.1"]]\n\n\tat org.apache',
        "w: numba is missing, 0.68.1 is needed: install numba==0.68.1 in /py",
    ),
])  # fmt: skip
def test_what_spark_says_of_a_failed_task_is_read(end, expected):
    error = executor_error(LOST + end)
    assert str(error).startswith(f"Spark executor on {expected}")
    assert "\n" not in str(error)


@pytest.mark.parametrize(("hosts", "host"), [
    ((), "a host that Spark does not name"), (("b", "b"), "b"), (("b", "a", "b"), "one of a, b"),
])  # fmt: skip
def test_where_spark_names_no_host_those_of_all_executors_are_told(hosts, host):
    text = "[PYTHON_VERSION_MISMATCH] Python in worker has different version: 3.12 than that in driver: 3.11, PySpark"
    assert str(executor_error(text, hosts)).startswith(f"Spark executor on {host}: Python is 3.12, 3.11 is needed")


@pytest.mark.parametrize("text", [
    "", LOST + "ZeroDivisionError: division by zero", f"RuntimeError: {MARK}[not JSON", "Connection refused",
])  # fmt: skip
def test_another_failure_keeps_its_own_words(text):
    assert executor_error(text) is None
