from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version


def advisor_version() -> str:
    try:
        return version("kafka-rebalance-advisor")
    except PackageNotFoundError:
        return "unreleased"
