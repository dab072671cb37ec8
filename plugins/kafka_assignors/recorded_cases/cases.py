"""Recorded cases in, answers out: ``{"id", "strategy", "input"}`` → ``{"id", "output"}``.

The dictionaries live at this edge alone: a family turns ``input`` into columns, calls the same strategy as every
other caller, and turns its answer into the fields that are recorded for that family, and no others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from typing import Any

from kafka_assignors.errors import AssignorError, EndlessReassignmentError, InvalidInputError, UnknownNameError
from kafka_assignors.visible_text import excerpt

_FIELDS = "see the fields in the strategy's page"

Case = Mapping[str, Any]
Handler = Callable[[Mapping[str, Any]], dict[str, Any]]

# strategy → module:function of replay_families, imported when first asked for.
FAMILIES: dict[str, str] = {
    "client_range": "kafka_assignors.recorded_cases.client:answer_range",
    "client_roundrobin": "kafka_assignors.recorded_cases.client:answer_roundrobin",
    "client_sticky": "kafka_assignors.recorded_cases.client:answer_sticky",
    "client_cooperative_sticky": "kafka_assignors.recorded_cases.client:answer_cooperative_sticky",
    "legacy_range_2_0": "kafka_assignors.recorded_cases.client:answer_legacy_range",
    "legacy_roundrobin_2_0": "kafka_assignors.recorded_cases.client:answer_legacy_roundrobin",
    "legacy_sticky_2_0": "kafka_assignors.recorded_cases.client:answer_legacy_sticky",
    "server_range": "kafka_assignors.recorded_cases.server:answer_range",
    "server_uniform": "kafka_assignors.recorded_cases.server:answer_uniform",
    "share_simple": "kafka_assignors.recorded_cases.server:answer_share_simple",
    "streams_sticky": "kafka_assignors.recorded_cases.streams:answer_sticky",
    "metaq_default": "kafka_assignors.recorded_cases.client:answer_default",
    "metaq_consistent": "kafka_assignors.recorded_cases.client:answer_consistent",
    "metaq_hash": "kafka_assignors.recorded_cases.client:answer_hash",
    "group_partition": "kafka_assignors.recorded_cases.runtime:answer_group",
    "group_vote": "kafka_assignors.recorded_cases.runtime:answer_vote",
    "producer_partition": "kafka_assignors.recorded_cases.runtime:answer_producer",
    "java_random": "kafka_assignors.recorded_cases.runtime:answer_random",
    "java_hash_order": "kafka_assignors.recorded_cases.runtime:answer_hash_order",
}


# What is registered as one's own: strategy ``own:NAME`` → module:function, which is told NAME.
OWN_FAMILIES: dict[str, str] = {
    "own": "kafka_assignors.recorded_cases.client:answer_assignor",
    "own-partitioner": "kafka_assignors.recorded_cases.client:answer_partitioner",
}


def handler_of(strategy: str, families: Mapping[str, str] = FAMILIES) -> Handler:
    """The function that answers ``strategy``; raises UnknownNameError that lists what there is."""
    family, is_own, name = strategy.partition(":")
    target = OWN_FAMILIES.get(family) if is_own else families.get(strategy)
    if target is None:
        raise UnknownNameError.among("strategy", strategy, (*families, *(f"{own}:NAME" for own in OWN_FAMILIES)))
    module, _, function = target.partition(":")
    function_found: Callable[..., dict[str, Any]] = getattr(import_module(module), function)
    return partial(function_found, name) if is_own else function_found


def answer(case: Case, families: Mapping[str, str] = FAMILIES) -> dict[str, Any]:
    """Answer one case. A refusal of the real class is an answer: ``{"error": java class, "message"}``.

    Raises InvalidInputError for a case that lacks a field or holds a wrong one, UnknownNameError for a strategy that
    nobody knows.
    """
    for field in ("strategy", "input"):
        if field not in case:
            raise InvalidInputError.at("case", f"has no {field!r}", 'a case is {"id", "strategy", "input"}')
    strategy = case["strategy"]
    if not isinstance(strategy, str):
        raise InvalidInputError.at("strategy", f"expected a name, found {excerpt(strategy)}")
    if not isinstance(case["input"], Mapping):
        raise InvalidInputError.at("input", f"expected an object, found {excerpt(case['input'])}")
    handler = handler_of(strategy, families)
    try:
        output = handler(case["input"])
    except AssignorError as refusal:
        output = {"error": refusal.java_class}
        if refusal.java_message and not isinstance(refusal, EndlessReassignmentError):
            output["message"] = refusal.java_message
    except KeyError as wrong:
        raise InvalidInputError.at(f"input of {strategy}", f"{wrong} is missing, or names nothing", _FIELDS) from wrong
    except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, AssertionError) as wrong:
        # The families read plain dictionaries as their recordings have them; what they trip over is named as it is.
        raise InvalidInputError.at(
            f"input of {strategy}", f"a field is of the wrong kind ({wrong})", _FIELDS
        ) from wrong
    except MemoryError as wrong:
        raise InvalidInputError.at(f"input of {strategy}", "is too large for this machine", _FIELDS) from wrong
    return {"id": case.get("id"), "output": output}
