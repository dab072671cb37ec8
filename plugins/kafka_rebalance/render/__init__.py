"""Words for facts, in plain English: the only place that makes them (``kafka_rebalance.facts``).

``MESSAGES`` has one function for each code; it takes the fact's arguments by name. Nothing reads the words back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from kafka_rebalance.facts import Fact, FactCode
from kafka_rebalance.render.moves import MOVES

MESSAGES: dict[FactCode, Callable[..., str]] = {**MOVES}


def render(fact: Fact) -> str:
    """Return the fact's words."""
    return MESSAGES[fact.code](**fact.args)


def render_all(facts: Iterable[Fact]) -> list[str]:
    """Return the words of each fact."""
    return [render(fact) for fact in facts]
