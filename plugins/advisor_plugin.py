"""The one file of this folder that Airflow loads as a plugin; the wheel registers the same by its entry point.

Where both are there (a checkout that is installed, too), the wheel's counts: Airflow takes the second for an error.
"""

from importlib.metadata import entry_points

if not entry_points(group="airflow.plugins", name="rebalance_advisor"):
    from rebalance_advisor.airflow.plugin import AdvisorPlugin

    __all__ = ["AdvisorPlugin"]
