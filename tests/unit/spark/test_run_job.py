import psycopg
import pytest

from kafka_assignors.errors import InvalidInputError
from rebalance_advisor.spark.run_job import run_job
from rebalance_advisor.store import StoreError


def failing(error):
    def main():
        raise error

    return main


def test_what_a_job_returns_is_its_exit_code(capsys):
    assert run_job(lambda: 3) == 3
    assert capsys.readouterr().err == ""


def test_an_error_that_time_can_mend_has_an_exit_code_of_its_own(capsys):
    """The class of the error would not survive the end of the process."""
    from pyspark.errors import PySparkRuntimeError

    lost = PySparkRuntimeError(
        "Job aborted due to stage failure: ExecutorLostFailure (executor 1 exited)", messageParameters={}
    )
    away = StoreError("cannot connect")
    away.__cause__ = psycopg.OperationalError("refused")
    for error in (lost, away, ConnectionRefusedError("no")):
        assert run_job(failing(error)) == 75
    assert "ExecutorLostFailure" in capsys.readouterr().err
    assert run_job(failing(StoreError("no plan"))) == 1
    with pytest.raises(PySparkRuntimeError):
        run_job(failing(PySparkRuntimeError("a column is missing", messageParameters={})))


def test_what_we_know_is_one_line_and_the_rest_keeps_its_traceback(capsys):
    assert run_job(failing(InvalidInputError.at("x", "odd\nvalue"))) == 1
    missing = "… (TID 1) (w executor 2): Traceback\nModuleNotFoundError: No module named 'numba'"
    assert run_job(failing(ValueError(missing))) == 1
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("x: odd")
    assert lines[1:] == ["Spark executor on w: numba is missing: install it in the Python of the Spark workers"]
    with pytest.raises(KeyError):
        run_job(failing(KeyError("k")))
