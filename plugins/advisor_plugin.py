"""The one file of this folder that Airflow loads as a plugin; the wheel registers the same by its entry point."""

from rebalance_advisor.airflow.plugin import AdvisorPlugin

__all__ = ["AdvisorPlugin"]
