"""The bare wheel is enough for a whole advisory: no Airflow, Spark, database or Great Expectations comes with it."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from stack.demo.cluster import write_demo_cluster

ROOT = Path(__file__).parents[2]
HEAVY = ("airflow", "pyspark", "great_expectations", "sqlalchemy", "psycopg", "pyarrow", "pandas")

pytestmark = [pytest.mark.stack, pytest.mark.slow]


def _run(*command: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    run = subprocess.run([str(word) for word in command], cwd=cwd, env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    return run


def _take_over_kernels(source: Path, target: Path) -> None:
    """Compiling them again takes a minute, and is tested where the first compilation is."""
    for file in source.rglob("__pycache__/*.nb[ic]"):
        location = target / file.relative_to(source)
        location.parent.mkdir(exist_ok=True)
        shutil.copy(file, location)


def test_a_fresh_base_install_answers_advise_on_the_demo_dumps(tmp_path: Path) -> None:
    uv = Path(sys.executable).parent / "uv"
    _run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path / "wheel", cwd=ROOT)
    (wheel,) = (tmp_path / "wheel").glob("*.whl")
    _run(uv, "venv", "--python", sys.executable, tmp_path / "venv", cwd=tmp_path)
    python = tmp_path / "venv" / "bin" / "python"
    _run(uv, "pip", "install", "--python", python, wheel, cwd=tmp_path)
    (site,) = (tmp_path / "venv" / "lib").glob("python*/site-packages")
    assert not [name for name in HEAVY if (site / name).exists()]
    _take_over_kernels(ROOT / "plugins", site)
    write_demo_cluster(tmp_path / "dumps")
    command = tmp_path / "venv" / "bin" / "rebalance-advisor"
    said = _run(command, "advise", tmp_path / "dumps", "--out", tmp_path / "advisory", cwd=tmp_path)
    assert said.stdout.startswith("Verdict: rebalance")
    plan = json.loads((tmp_path / "advisory" / "plan.json").read_text())
    assert plan["moves"]
    assert "<html" in (tmp_path / "advisory" / "report.html").read_text()
    _run(command, "verify", tmp_path / "advisory" / "plan.json", tmp_path / "dumps", cwd=tmp_path)
