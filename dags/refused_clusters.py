"""Errors in ``clusters.toml`` as an import error of this file; it makes no DAG (of Airflow's).

An unreadable table removes the DAGs of its own cluster only.
"""

from rebalance_advisor.airflow.cluster_dags import require_every_table

require_every_table()
