"""The advisor's version, which every plan states."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version


def advisor_version() -> str:
    """The distribution's version; from a folder that was never installed, ``unreleased``."""
    try:
        return version("kafka-rebalance-advisor")
    except PackageNotFoundError:
        return "unreleased"
