"""Which of a plan's four costs comes first, and how far above its bound each may stay for the sake of the others."""

from __future__ import annotations

from enum import StrEnum

# What is told where nothing is asked for: each cost is within so much of its bound, or is not.
DEFAULT_SLACK = 0.05


class Preference(StrEnum):
    """The cost that comes first; the others follow in this order."""

    BYTES = "bytes"
    MOVES = "moves"
    TIME = "time"
    LEADERS = "leaders"


def order_of(first: str) -> tuple[Preference, ...]:
    """All four, ``first`` before the others: ``time`` gives time, bytes, moves, leaders."""
    chosen = Preference(first)
    return chosen, *(preference for preference in Preference if preference is not chosen)
