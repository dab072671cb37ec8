"""Recorded cases: ``{"id", "strategy", "input"}`` → ``{"id", "output"}``.

``version`` chooses the class (``releases.answering``). A release newer than any tried one is answered as the newest,
with ``assumed`` beside the output: ``{"version": "9.9", "answered_as": "Kafka 3.9 – 4.4"}``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

from kafka_assignors.connect import CONNECT_COOPERATIVE, CONNECT_EAGER
from kafka_assignors.coordinator.membership import COORDINATORS
from kafka_assignors.errors import AssignorError, EndlessReassignmentError, InvalidInputError, UnknownNameError
from kafka_assignors.fixed_readers import FLINK, MIRROR_MAKER
from kafka_assignors.high_availability import HIGH_AVAILABILITY
from kafka_assignors.registry import Registration, built_in, lines_of_client, lines_of_coordinator
from kafka_assignors.releases import Releases, answering
from kafka_assignors.streams import STREAMS_STICKY
from kafka_assignors.visible_text import excerpt

_FIELDS = "see the fields in the strategy's page"

Case = Mapping[str, Any]
Input = Mapping[str, Any]
Handler = Callable[..., dict[str, Any]]
Line = tuple[str, Releases]


@dataclass(frozen=True, slots=True)
class Family:
    """``target``: module:function.

    ``lines`` of an input, newest first. ``default``: release of recordings without one, if not the newest.
    ``is_ended``: later releases do not have it.
    """

    target: str
    lines: Callable[[Input], Sequence[Line]]
    default: str | None = None
    is_ended: bool = False


def _lines_of(registrations: Sequence[Registration]) -> tuple[Line, ...]:
    return tuple((registration.name, registration.releases) for registration in registrations)


def _client(strategy: str, function: str) -> Family:
    return Family(
        f"kafka_assignors.recorded_cases.client:{function}",
        lambda case: _lines_of(lines_of_client(strategy, case.get("client"))),
    )


def _legacy(name: str, function: str) -> Family:
    return Family(
        f"kafka_assignors.recorded_cases.client:{function}", lambda _asked: _lines_of([built_in(name)]), is_ended=True
    )


def _coordinator(strategy: str) -> Family:
    lines = _lines_of(lines_of_coordinator(strategy))
    return Family("kafka_assignors.recorded_cases.server:answer", lambda _asked: lines, default="4.0.0")


def one_line(target: str, releases: Releases, *, is_ended: bool = False) -> Family:
    return Family(target, lambda _asked: (("", releases),), is_ended=is_ended)


_ALL_OF_KAFKA, _METAQ = Releases("Kafka", "0.9", "4.4"), Releases("Metamorphosis", "1.4", "1.4")

FAMILIES: dict[str, Family] = {
    "client_range": _client("range", "answer_plain"),
    "client_roundrobin": _client("roundrobin", "answer_plain"),
    "client_sticky": _client("sticky", "answer_sticky"),
    "client_cooperative_sticky": _client("cooperative-sticky", "answer_cooperative_sticky"),
    "client_rack_affinity": _client("rack-affinity", "answer_rack_affinity"),
    "legacy_range_2_0": _legacy("range@2.0", "answer_plain"),
    "legacy_roundrobin_2_0": _legacy("roundrobin@2.0", "answer_plain"),
    "legacy_sticky_2_0": _legacy("sticky@2.0", "answer_legacy_sticky"),
    "server_range": _coordinator("server-range"),
    "server_uniform": _coordinator("server-uniform"),
    "share_simple": _coordinator("share-simple"),
    "streams_sticky": Family(
        "kafka_assignors.recorded_cases.streams:answer_sticky",
        lambda _asked: tuple((assignor.name, assignor.releases) for assignor in STREAMS_STICKY),
    ),
    "streams_high_availability": Family(
        "kafka_assignors.recorded_cases.streams:answer_high_availability",
        lambda _asked: tuple((assignor.name, assignor.releases) for assignor in HIGH_AVAILABILITY),
    ),
    "connect_eager": Family(
        "kafka_assignors.recorded_cases.connect:answer_eager",
        lambda _asked: tuple((assignor.name, assignor.releases) for assignor in CONNECT_EAGER),
    ),
    "connect_cooperative": Family(
        "kafka_assignors.recorded_cases.connect:answer_cooperative",
        lambda _asked: tuple((assignor.name, assignor.releases) for assignor in CONNECT_COOPERATIVE),
    ),
    "metaq_default": one_line("kafka_assignors.recorded_cases.client:answer_default", _METAQ),
    "metaq_consistent": one_line("kafka_assignors.recorded_cases.client:answer_consistent", _METAQ),
    "metaq_hash": one_line("kafka_assignors.recorded_cases.client:answer_hash", _METAQ),
    "flink_splits": one_line("kafka_assignors.recorded_cases.fixed_readers:answer_flink", FLINK),
    "mirror_maker_tasks": one_line("kafka_assignors.recorded_cases.fixed_readers:answer_mirror_maker", MIRROR_MAKER),
    "group_partition": one_line("kafka_assignors.recorded_cases.runtime:answer_group", _ALL_OF_KAFKA),
    "group_vote": Family("kafka_assignors.recorded_cases.runtime:answer_vote", lambda _asked: COORDINATORS),
    "producer_partition": one_line("kafka_assignors.recorded_cases.runtime:answer_producer", _ALL_OF_KAFKA),
    "java_random": one_line("kafka_assignors.recorded_cases.runtime:answer_random", _ALL_OF_KAFKA),
    "java_hash_order": one_line("kafka_assignors.recorded_cases.runtime:answer_hash_order", _ALL_OF_KAFKA),
}


# ``own:NAME`` → module:function, called with NAME.
OWN_FAMILIES: dict[str, str] = {
    "own": "kafka_assignors.recorded_cases.client:answer_assignor",
    "own-partitioner": "kafka_assignors.recorded_cases.client:answer_partitioner",
}


def _function(target: str) -> Handler:
    module, _, function = target.partition(":")
    handler: Handler = getattr(import_module(module), function)
    return handler


def _choose_handler(strategy: str, case: Input, families: Mapping[str, Family]) -> tuple[Handler, dict[str, Any]]:
    kind, is_own, name = strategy.partition(":")
    if is_own and kind in OWN_FAMILIES:
        return partial(_function(OWN_FAMILIES[kind]), name), {}
    if strategy not in families:
        raise UnknownNameError.among("strategy", strategy, (*families, *(f"{own}:NAME" for own in OWN_FAMILIES)))
    family = families[strategy]
    lines = family.lines(case)
    version = family.default if case.get("version") is None else case["version"]
    answer = answering([releases for _, releases in lines], version, strategy, is_ended=family.is_ended)
    line, releases = lines[answer.index]
    beside = {"assumed": {"version": version, "answered_as": str(releases)}} if answer.is_assumed else {}
    function = _function(family.target)
    return (partial(function, line) if line else function), beside


def answer(case: Case, families: Mapping[str, Family] = FAMILIES) -> dict[str, Any]:
    """A refusal of the real class is an answer: ``{"error": java class, "message"}``.

    Raises InvalidInputError for a wrong field or a release known not to have the strategy; UnknownNameError.
    """
    for field in ("strategy", "input"):
        if field not in case:
            raise InvalidInputError.at("case", f"has no {field!r}", 'a case is {"id", "strategy", "input"}')
    strategy = case["strategy"]
    if not isinstance(strategy, str):
        raise InvalidInputError.at("strategy", f"expected a name, found {excerpt(strategy)}")
    if not isinstance(case["input"], Mapping):
        raise InvalidInputError.at("input", f"expected an object, found {excerpt(case['input'])}")
    handler, beside = _choose_handler(strategy, case["input"], families)
    try:
        output = handler(case["input"])
    except AssignorError as refusal:
        output = {"error": refusal.java_class}
        if refusal.java_message and not isinstance(refusal, EndlessReassignmentError):
            output["message"] = refusal.java_message
    except KeyError as wrong:
        raise InvalidInputError.at(f"input of {strategy}", f"{wrong} is missing, or names nothing", _FIELDS) from wrong
    except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, AssertionError) as wrong:
        raise InvalidInputError.at(
            f"input of {strategy}", f"a field is of the wrong kind ({wrong})", _FIELDS
        ) from wrong
    except MemoryError as wrong:
        raise InvalidInputError.at(f"input of {strategy}", "is too large for this machine", _FIELDS) from wrong
    return {"id": case.get("id"), "output": output, **beside}
