"""What Airflow learns from us by its plugin mechanism: from ``plugins/advisor_plugin.py``, or from the wheel."""

from __future__ import annotations

from airflow.plugins_manager import AirflowPlugin


class AdvisorPlugin(AirflowPlugin):
    """Kafka Rebalance Advisor."""

    name = "rebalance_advisor"
