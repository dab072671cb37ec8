"""What is wrong in ``clusters.toml``, as an import error of this file: it makes no DAG (of Airflow's), it only tells.

A table that cannot be read takes its own cluster's DAGs away, and no other's.
"""

from rebalance_advisor.airflow.cluster_dags import require_every_table

require_every_table()
