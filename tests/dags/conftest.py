"""One DagBag for all tests: Airflow takes ten seconds to import."""

from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def dag_bag(airflow_home):
    """All DAGs of the checkout, read as the dag-processor reads them."""
    from airflow.dag_processing.dagbag import DagBag

    return DagBag(CHECKOUT / "dags")
