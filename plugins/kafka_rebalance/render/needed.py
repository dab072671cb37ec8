"""Sentences for the gap between a cost and its lower bound.

Bytes and hours near their bound get a percentage; other costs the needed amount.

Example: 17 moves, 2 provably needed: ``at least 2 needed``. 10.1 GiB above 10 GiB: ``1.00 % above what is provably
needed``. 5 leader changes, bound 4.3: ``the fewest possible``, since changes are whole.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from kafka_rebalance.amounts import format_bytes, format_percent, format_seconds
from kafka_rebalance.cluster_arrays.bands import BAND_ROUNDING

_MOST_PERCENT = 0.25
COUNTS = ("replica_moves", "leader_changes")
ABOVE = "above what is provably needed"


class Needed(NamedTuple):
    value: str
    of_what: str

    @property
    def text(self) -> str:
        return f"{self.value} {self.of_what}".strip()


def needed(cost: str, amount: float | None, bound: float | None) -> Needed | None:
    """Return the words for ``cost``; None where amount or bound is unknown or the bound is 0."""
    if amount is None or bound is None or (bound <= 0 < amount):
        return None
    if cost in COUNTS:
        fewest = math.ceil(bound - BAND_ROUNDING * max(bound, 1.0))
        return Needed("the fewest possible", "") if amount <= fewest else Needed(f"at least {fewest:,}", "needed")
    gap = (amount - bound) / bound if amount > bound else 0.0
    least = amount_of(cost, bound)
    if gap <= _MOST_PERCENT or least == amount_of(cost, amount):
        return Needed(format_percent(gap), ABOVE)
    return Needed(f"at least {least}", "needed")


def describe_needed(cost: str, amount: float | None, bound: float | None) -> str:
    gap = needed(cost, amount, bound)
    return "" if gap is None else gap.text


def amount_of(cost: str, amount: float | None) -> str:
    if cost == "bytes":
        return format_bytes(amount)
    if cost == "seconds":
        return format_seconds(amount)
    return "unknown" if amount is None else f"{amount:,.0f}"
