"""Sentences for the gap between a cost and its lower bound, for terminal, report, digest and frontier.

A percentage tells something of bytes and hours that lie near their bound. Of counts, and far from a bound, it frightens
and says nothing ("717 %" above 2 moves): there the amount that is needed is told.

Example: 17 moves of which 2 are provably needed: ``at least 2 needed``; 10.1 GiB above 10 GiB: ``1.00 % above what is
provably needed``; 5 leader changes and a bound of 4.3: ``the fewest possible``, for no plan has a part of one.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from kafka_rebalance.amounts import bytes_in_words, percent_in_words, seconds_in_words
from kafka_rebalance.cluster_arrays.bands import BAND_ROUNDING

# Beyond this gap the words give the amount that is needed, not the gap.
_MOST_PERCENT = 0.25
COUNTS = ("replica_moves", "leader_changes")
ABOVE = "above what is provably needed"


class Needed(NamedTuple):
    """``1.00 %`` and ``above what is provably needed``, ``at least 2`` and ``needed``, or ``the fewest possible``."""

    value: str
    of_what: str

    @property
    def words(self) -> str:
        """Both parts."""
        return f"{self.value} {self.of_what}".strip()


def needed(cost: str, amount: float | None, bound: float | None) -> Needed | None:
    """Of one cost (a field of ``Cost``), its ``amount`` and the ``bound`` on it; None where either is unknown, and
    where no amount above 0 is known to be needed.
    """
    if amount is None or bound is None or (bound <= 0 < amount):
        return None
    if cost in COUNTS:
        fewest = math.ceil(bound - BAND_ROUNDING * max(bound, 1.0))
        return Needed("the fewest possible", "") if amount <= fewest else Needed(f"at least {fewest:,}", "needed")
    gap = (amount - bound) / bound if amount > bound else 0.0
    least = amount_of(cost, bound)
    if gap <= _MOST_PERCENT or least == amount_of(cost, amount):
        return Needed(percent_in_words(gap), ABOVE)
    return Needed(f"at least {least}", "needed")


def needed_words(cost: str, amount: float | None, bound: float | None) -> str:
    """The same in words, empty for None."""
    found = needed(cost, amount, bound)
    return "" if found is None else found.words


def amount_of(cost: str, amount: float | None) -> str:
    """``17``, ``1.3 TiB``, ``4 h 42 min``."""
    if cost == "bytes":
        return bytes_in_words(amount)
    if cost == "seconds":
        return seconds_in_words(amount)
    return "unknown" if amount is None else f"{amount:,.0f}"
