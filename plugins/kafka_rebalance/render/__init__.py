"""Words for facts (``kafka_rebalance.facts``), in plain English; made here only, and never parsed.

``MESSAGES`` has one function for each code. It takes the fact's arguments by name, and facts among them as words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from kafka_rebalance.errors import InfeasibleError
from kafka_rebalance.facts import Fact, FactCode
from kafka_rebalance.render.checks import CHECKS
from kafka_rebalance.render.coverage import COVERAGE, GATES
from kafka_rebalance.render.findings import FINDINGS
from kafka_rebalance.render.groups import ADVISORY, GROUPS
from kafka_rebalance.render.infeasible import INFEASIBLE
from kafka_rebalance.render.moves import MOVES
from kafka_rebalance.render.plan_reasons import PLAN_REASONS

MESSAGES: dict[FactCode, Callable[..., str]] = {
    **MOVES,
    **PLAN_REASONS,
    **INFEASIBLE,
    **FINDINGS,
    **GROUPS,
    **ADVISORY,
    **COVERAGE,
    **CHECKS,
    **GATES,
}


def render(fact: Fact) -> str:
    return MESSAGES[fact.code](**{name: _with_text(value) for name, value in fact.args.items()})


def render_all(facts: Iterable[Fact]) -> list[str]:
    return [render(fact) for fact in facts]


def render_document(document: Mapping[str, Any]) -> str:
    return render(Fact.from_document(document))


def describe_error(error: BaseException) -> str:
    """Return an error for people."""
    return "; ".join(render_all(error.facts)) if isinstance(error, InfeasibleError) else str(error)


def with_texts(value: Any) -> Any:
    """Return the JSON value with a ``text`` in each fact's object."""
    if isinstance(value, list):
        return [with_texts(part) for part in value]
    if not isinstance(value, Mapping):
        return value
    if "code" in value and "args" in value:
        return {"code": value["code"], "args": value["args"], "text": render_document(value)}
    return {name: with_texts(part) for name, part in value.items()}


def _with_text(value: Any) -> Any:
    if isinstance(value, Fact):
        return render(value)
    return tuple(_with_text(part) for part in value) if isinstance(value, tuple) else value
