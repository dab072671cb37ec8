"""Executors that lack something say what, before any work, in one line."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys

import numba
import pyarrow as pa
import pytest

from rebalance_advisor.version import advisor_version
from tests.spark.standalone.cluster import CHECKOUT, NEEDED, make_python

pytestmark = [pytest.mark.stack, pytest.mark.slow]

HOST = socket.gethostname()


def without(*names):
    return [name for name in NEEDED if name not in names]


@pytest.fixture(scope="module")
def pythons(tmp_path_factory):
    """By name: what it lacks."""
    folder = tmp_path_factory.mktemp("pythons")
    made = {
        "no_numba": make_python(folder / "no_numba", without("numba")),
        "no_pyarrow": make_python(folder / "no_pyarrow", without("pyarrow")),
        "old_numba": make_python(folder / "old_numba", without("numba"), {"numba": "__version__ = '0.61.2'\n"}),
        "nowhere": folder / "nowhere" / "python",
        "installed_nothing": make_python(folder / "installed_nothing", NEEDED),
        "installed_other": make_python(folder / "installed_other", NEEDED),
        "installed_same": make_python(folder / "installed_same", NEEDED),
    }
    for name in ("installed_other", "installed_same"):
        (site,) = (folder / name / "lib").glob("python*/site-packages")
        for package in ("kafka_assignors", "kafka_rebalance", "rebalance_advisor"):
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(CHECKOUT / "plugins" / package, site / package, ignore=ignored)
        if name == "installed_other":
            with (site / "kafka_rebalance" / "errors.py").open("a") as file:
                file.write("# as it was a version ago\n")
    return made


@pytest.fixture(scope="module")
def said(standalone, pythons):
    """What one application says of executors with each of these Pythons."""
    cluster, address = standalone
    reported = [f"{name}={python}" for name, python in pythons.items()]
    command = [sys.executable, "-m", "tests.spark.standalone.ask_executors", address, *reported]
    done = subprocess.run(command, env=cluster.driver_environment(), cwd=cluster.folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-4000:]
    return {name: text for line in done.stdout.splitlines() for name, text in json.loads(line).items()}


@pytest.mark.parametrize(("name", "expected"), [
    ("no_numba", f"numba is missing, {numba.__version__} is needed: install numba=={numba.__version__} in "),
    ("no_pyarrow", f"pyarrow is missing, {pa.__version__} is needed: install pyarrow=={pa.__version__} in "),
    ("old_numba", f"numba is 0.61.2, {numba.__version__} is needed: install numba=={numba.__version__} in "),
    (
        "installed_nothing",
        f"kafka-rebalance-advisor is missing, {advisor_version()} of ",
    ),
    ("installed_other", "kafka-rebalance-advisor is one of "),
])  # fmt: skip
def test_a_part_that_is_missing_or_another_one_is_named(said, pythons, name, expected):
    assert said[name].startswith(f"Spark executor on {HOST}: {expected}")
    assert str(pythons[name]) in said[name]
    assert "\n" not in said[name]


def test_a_python_that_is_not_there_is_named(said, pythons):
    text = f"no Python can be started as '{pythons['nowhere']}': name the workers' Python as executor-python"
    assert text in said["nowhere"]


def test_the_same_code_installed_will_do(said):
    assert said["installed_same"] is None


def test_threads_of_one_driver_prepare_the_executors_once(standalone, whole_python):
    cluster, address = standalone
    command = [sys.executable, "-m", "tests.spark.standalone.prepare_together", address, str(whole_python)]
    done = subprocess.run(command, env=cluster.driver_environment(), cwd=cluster.folder, capture_output=True, text=True)
    assert done.stdout == "1\n", done.stderr[-4000:]
