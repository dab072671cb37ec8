"""The library is pure: it imports where no framework is installed (`make lint` checks the layers)."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
HEAVY = (
    "airflow",
    "pyspark",
    "sqlalchemy",
    "psycopg",
    "kafka",
    "confluent_kafka",
    "great_expectations",
    "pyarrow",
    "pandas",
)


def test_the_library_imports_where_no_framework_is_installed() -> None:
    blocker = f"""
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split('.')[0] in {HEAVY!r}:
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Absent())
import importlib, pkgutil, kafka_rebalance
for module in pkgutil.walk_packages(kafka_rebalance.__path__, 'kafka_rebalance.'):
    importlib.import_module(module.name)
print('imported')
"""
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", blocker],
        cwd=ROOT / "plugins", capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.stdout.strip() == "imported", run.stderr
