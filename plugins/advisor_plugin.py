"""Plugin file for Airflow. The wheel's entry point takes priority: Airflow refuses a second one."""

from importlib.metadata import entry_points

if not entry_points(group="airflow.plugins", name="rebalance_advisor"):
    from rebalance_advisor.airflow.plugin import AdvisorPlugin

    __all__ = ["AdvisorPlugin"]
