"""Facts: what plans, findings, gates and stored rows say, as a code with named arguments.

``render`` alone makes words of them. A fact is data: it is hashed, stored and verified, and its wording may change at
any time. Arguments are JSON values with their unit in the name (``copied_bytes``, ``times_share``), ids, names, lists
of these, and further facts. Example: ``fact(FactCode.BROKER_OUTSIDE_BAND, broker=3, resource="disk", times_mean=1.4)``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class FactCode(StrEnum):
    """Every code, by the part that says it. A code is its value in JSON and SQL, and never changes its meaning."""

    # Moves of a plan: why each is made, and what is worse without it.
    RELIEVES_BROKER = "relieves_broker"
    FILLS_BROKER = "fills_broker"
    MAKES_UP_FOR_MOVES = "makes_up_for_moves"
    ONE_OF_SEVERAL = "one_of_several"

    # Verdict, notes and causes of a plan.

    # Causes that no plan keeps every hard rule.

    # Findings about brokers, topics and the cluster.

    # Findings and advice about groups.

    # Gaps of a snapshot, gates, runs.


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact. ``args`` holds plain JSON values, tuples of them, and facts."""

    code: FactCode
    args: Mapping[str, Any] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        """Return the JSON object ``{"code": ..., "args": {...}}``."""
        return {"code": self.code.value, "args": {name: _plain(value) for name, value in self.args.items()}}

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Fact:
        """Return the fact of a JSON object. Raises ValueError for an unknown code."""
        return cls(FactCode(document["code"]), {name: _typed(value) for name, value in document["args"].items()})


def fact(code: FactCode, **args: Any) -> Fact:
    """Return the fact with its arguments by name."""
    return Fact(code, args)


def _plain(value: Any) -> Any:
    if isinstance(value, Fact):
        return value.document()
    return [_plain(part) for part in value] if isinstance(value, (tuple, list)) else value


def _typed(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_typed(part) for part in value)
    is_fact = isinstance(value, Mapping) and value.keys() == {"code", "args"}
    return Fact.from_document(value) if is_fact else value
