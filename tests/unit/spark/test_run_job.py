"""A job's last words."""

import pytest

from kafka_rebalance.errors import InvalidInputError
from rebalance_advisor.spark.run_job import run_job


def failing(error):
    def main():
        raise error

    return main


def test_what_a_job_returns_is_its_exit_code(capsys):
    assert run_job(lambda: 3) == 3
    assert capsys.readouterr().err == ""


def test_what_we_know_is_one_line_and_the_rest_keeps_its_traceback(capsys):
    assert run_job(failing(InvalidInputError.at("x", "odd\nvalue"))) == 1
    missing = "… (TID 1) (w executor 2): Traceback\nModuleNotFoundError: No module named 'numba'"
    assert run_job(failing(ValueError(missing))) == 1
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("x: odd")
    assert lines[1:] == ["Spark executor on w: numba is missing: install it in the Python of the Spark workers"]
    with pytest.raises(KeyError):
        run_job(failing(KeyError("k")))
