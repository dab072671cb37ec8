"""Version of the advisor, recorded in every plan."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version


def advisor_version() -> str:
    """Return the distribution's version; ``unreleased`` without one."""
    try:
        return version("kafka-rebalance-advisor")
    except PackageNotFoundError:
        return "unreleased"
