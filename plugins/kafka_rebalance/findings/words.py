"""Lists, counts and patterns of a recommendation as people read and copy them."""

from __future__ import annotations

# Rules of findings take all words from here.
from kafka_rebalance.amounts import LISTED as LISTED  # noqa: PLC0414
from kafka_rebalance.amounts import counted as counted  # noqa: PLC0414
from kafka_rebalance.amounts import listed as listed  # noqa: PLC0414


def pattern_of(topic: str) -> str:
    """A regular expression that matches this topic alone."""
    return topic.replace(".", r"\.")
