"""How far a cost is above what is provably needed, as terminal, report, digest and frontier say it.

A percentage tells something of bytes and hours that lie near their bound. Of counts, and far from a bound, it frightens
and says nothing ("717 %" above 2 moves): there the amount that is needed is told.

Example: 17 moves of which 2 are provably needed: ``at least 2 needed``; 10.1 GiB above 10 GiB: ``1.00 % above what is
provably needed``; 5 leader changes and a bound of 4.3: ``the fewest possible``, for no plan has a part of one.
"""

from __future__ import annotations

import math

from kafka_rebalance.amounts import bytes_in_words, percent_in_words, seconds_in_words
from kafka_rebalance.cluster_arrays.tolerances import BAND_ROUNDING
from kafka_rebalance.plans.params import DEFAULTS, TextParams

COUNTS = ("replica_moves", "leader_changes")
ABOVE = "above what is provably needed"


def needed_words(cost: str, amount: float | None, bound: float | None, params: TextParams = DEFAULTS.texts) -> str:
    """Of one cost (a field of ``Cost``), its ``amount`` and the ``bound`` on it; empty where either is unknown, and
    where no amount above 0 is known to be needed.
    """
    if amount is None or bound is None or (bound <= 0 < amount):
        return ""
    if cost in COUNTS:
        fewest = math.ceil(bound - BAND_ROUNDING * max(bound, 1.0))
        return "the fewest possible" if amount <= fewest else f"at least {fewest:,} needed"
    gap = (amount - bound) / bound if amount > bound else 0.0
    least = amount_of(cost, bound)
    if gap <= params.most_percent or least == amount_of(cost, amount):
        return f"{percent_in_words(gap)} {ABOVE}"
    return f"at least {least} needed"


def amount_of(cost: str, amount: float | None) -> str:
    """``17``, ``1.3 TiB``, ``4 h 42 min``."""
    if cost == "bytes":
        return bytes_in_words(amount)
    if cost == "seconds":
        return seconds_in_words(amount)
    return "unknown" if amount is None else f"{amount:,.0f}"
