"""One DagBag for all tests: Airflow takes ten seconds to import, and is told where it lives before that."""

import os
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def dag_bag(tmp_path_factory):
    """All DAGs of the checkout, read as the dag-processor reads them."""
    home = tmp_path_factory.mktemp("airflow")
    os.environ.update(
        {
            "AIRFLOW_HOME": str(home),
            "AIRFLOW__CORE__DAGS_FOLDER": str(CHECKOUT / "dags"),
            "AIRFLOW__CORE__PLUGINS_FOLDER": str(CHECKOUT / "plugins"),
            "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
            "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": f"sqlite:///{home}/airflow.db",
        }
    )
    from airflow.dag_processing.dagbag import DagBag

    return DagBag(CHECKOUT / "dags")
