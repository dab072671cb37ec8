"""The plugin file that Airflow loads; the wheel registers the same by entry point.

If both exist, the wheel's is used: Airflow treats a second one as an error.
"""

from importlib.metadata import entry_points

if not entry_points(group="airflow.plugins", name="rebalance_advisor"):
    from rebalance_advisor.airflow.plugin import AdvisorPlugin

    __all__ = ["AdvisorPlugin"]
