"""What facts a plan has: tests look at codes and arguments, never at words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from kafka_rebalance.facts import Fact, FactCode


def all_facts(facts: Iterable[Fact]) -> Iterator[Fact]:
    """Yield each fact, then those that are its arguments."""
    for fact in facts:
        yield fact
        parts = (part for value in fact.args.values() for part in (value if isinstance(value, tuple) else (value,)))
        yield from all_facts(part for part in parts if isinstance(part, Fact))


def said(facts: Iterable[Fact], code: FactCode) -> list[dict[str, Any]]:
    """Return the arguments of each fact of the code, nested ones among them."""
    return [dict(fact.args) for fact in all_facts(facts) if fact.code is code]
