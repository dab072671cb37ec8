"""The code that the stack runs: this checkout's, or an installed wheel's, whichever this Python imports."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True, slots=True)
class InstalledCode:
    """Folders of DAGs and plugins for Airflow, and of applications for spark-submit.

    A wheel's plugin is found by its entry point: ``plugins`` is then a folder that does not exist.
    """

    dags: Path
    plugins: Path
    spark_jobs: Path


def installed_code() -> InstalledCode:
    """Raises ModuleNotFoundError where the advisor is neither on the path nor installed."""
    spec = find_spec("rebalance_advisor")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("rebalance_advisor is neither in plugins/ on the path nor installed")
    package = Path(spec.origin).resolve().parent
    if package.is_relative_to(CHECKOUT / "plugins"):  # its .venv may hold a wheel
        return InstalledCode(CHECKOUT / "dags", CHECKOUT / "plugins", CHECKOUT / "spark_jobs")
    airflow = package / "airflow"
    return InstalledCode(airflow / "dags", CHECKOUT / "plugins", airflow / "spark" / "jobs")
