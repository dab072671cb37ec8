"""One DagBag for all tests: Airflow takes ten seconds to import."""

import os
import warnings
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
CLUSTERS = """
[clusters.orders]
connection = "kafka_orders"
schedule = "0 4 * * 1-5"
collect_schedule = "*/30 * * * *"
owner = "team-orders"
tags = ["prod"]
retries = 5
throttle = "100MB"
exclude_topic = ["tmp-.*"]
permissions = { orders = ["can_read", "can_edit"] }

[clusters.audit]
folder = "dumps/audit"
schedule = "off"

[clusters.planned]
file = "planned.json"
throtle = "100MB"
"""


@pytest.fixture(scope="session")
def clusters_file(airflow_home):
    """A list of three, of which one cannot be read; the brokers of ``orders`` are known from its last reading."""
    from rebalance_advisor.airflow.clusters import remember_brokers

    os.environ.update(
        {"ADVISOR_CLUSTERS_FILE": str(airflow_home / "clusters.toml"), "ADVISOR_PUBLISH_DIR": str(airflow_home / "out")}
    )
    (airflow_home / "clusters.toml").write_text(CLUSTERS)
    remember_brokers("orders", [(11, "rack-b"), (2, None)])
    return airflow_home / "clusters.toml"


@pytest.fixture(scope="session")
def dag_bag(clusters_file):
    """All DAGs of the checkout, read as the dag-processor reads them."""
    from airflow.dag_processing.dagbag import DagBag

    with warnings.catch_warnings():  # Airflow deprecates permissions of single DAGs, and has nothing in their place yet
        warnings.filterwarnings("ignore", "The airflow.security.permissions module is deprecated")
        return DagBag(CHECKOUT / "dags")
