"""Reading a DAG file costs no heavy import: the dag-processor does it every few seconds, and each task once more."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
HEAVY = ("great_expectations", "kafka", "numba", "numpy", "pandas", "psycopg", "pyarrow", "pyspark", "scipy")
READ = """
import json, runpy, sys
import airflow.sdk
for file in sys.argv[2:]:
    runpy.run_path(file)
print(json.dumps([module for module in sys.argv[1].split(",") if module in sys.modules]))
"""


@pytest.mark.stack
def test_dags_import_nothing_heavy_at_module_level(tmp_path):
    clusters = '[clusters.orders]\nconnection = "kafka_orders"\nschedule = "0 4 * * *"\nremove_broker = [3]\n'
    (tmp_path / "clusters.toml").write_text(clusters)
    files = sorted(str(path) for path in (CHECKOUT / "dags").glob("*.py"))
    done = subprocess.run(
        [sys.executable, "-c", READ, ",".join(HEAVY), *files],
        capture_output=True, text=True, check=False, cwd=tmp_path,
        env={
            "AIRFLOW_HOME": str(tmp_path), "PYTHONPATH": str(CHECKOUT / "plugins"), "PATH": "",
            "ADVISOR_CLUSTERS_FILE": str(tmp_path / "clusters.toml"),
        },
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == []


@pytest.mark.stack
def test_only_advising_loads_the_planner():
    """The store, the gates, messages and the page run in every task and in Airflow's own API server."""
    modules = ("store", "gates.run", "page.routes", "notify", "airflow.publishing")
    imports = "; ".join(f"import rebalance_advisor.{module}" for module in modules)
    heavy = {"numba", "scipy", "kafka_rebalance.planner", "kafka_rebalance.verify"}
    script = f"import sys; {imports}; print(sorted({heavy!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
