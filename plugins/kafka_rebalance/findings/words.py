"""Lists, counts and patterns of a recommendation as people read and copy them."""

from __future__ import annotations

from collections.abc import Iterable

from kafka_rebalance.amounts import counted as counted  # noqa: PLC0414 - rules of findings take all words from here

LISTED = 5


def listed(names: Iterable[object], most: int = LISTED) -> str:
    """``a, b and 3 more``."""
    every = [str(name) for name in names]
    more = len(every) - most
    return ", ".join(every[:most]) + (f" and {more} more" if more > 0 else "")


def pattern_of(topic: str) -> str:
    """A regular expression that matches this topic alone."""
    return topic.replace(".", r"\.")
