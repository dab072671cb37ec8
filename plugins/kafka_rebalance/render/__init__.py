"""Words for facts, in plain English: the only place that makes them (``kafka_rebalance.facts``).

``MESSAGES`` has one function for each code; it takes the fact's arguments by name, facts among them as their words.
Nothing reads the words back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from kafka_rebalance.facts import Fact, FactCode
from kafka_rebalance.render.moves import MOVES

MESSAGES: dict[FactCode, Callable[..., str]] = {**MOVES}


def render(fact: Fact) -> str:
    """Return the fact's words."""
    return MESSAGES[fact.code](**{name: _worded(value) for name, value in fact.args.items()})


def render_all(facts: Iterable[Fact]) -> list[str]:
    """Return the words of each fact."""
    return [render(fact) for fact in facts]


def _worded(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(_worded(part) for part in value)
    return render(value) if isinstance(value, Fact) else value
