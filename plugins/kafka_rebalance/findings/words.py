"""Lists, counts and patterns of a recommendation as people read and copy them."""

from __future__ import annotations

from collections.abc import Iterable

LISTED = 5


def listed(names: Iterable[object], most: int = LISTED) -> str:
    """``a, b and 3 more``."""
    every = [str(name) for name in names]
    more = len(every) - most
    return ", ".join(every[:most]) + (f" and {more} more" if more > 0 else "")


def counted(count: int, noun: str) -> str:
    """``1 partition``, ``2 partitions``."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def pattern_of(topic: str) -> str:
    """A regular expression that matches this topic alone."""
    return topic.replace(".", r"\.")
