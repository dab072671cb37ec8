"""What somebody asks for in a form, kept with the run → the planner's options. Empty fields are no wishes."""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Mapping
from typing import Any

from kafka_rebalance.errors import InvalidInputError, UsageError
from kafka_rebalance.options.plan_options import PlanOptions
from rebalance_advisor.option_texts import new_broker, once


def plan_options(form: Mapping[str, Any]) -> PlanOptions:
    """The options of a run's parameters; fields that are about something else are passed over.

    Raises InvalidInputError for a value that cannot be, and for two that contradict each other.
    """
    limits = {
        name: form[name] for name in ("max_move_bytes", "max_moves", "max_leader_changes") if _is_said(form, name)
    }
    throttle = {"throttle_bytes_per_s": form["throttle"]} if _is_said(form, "throttle") else {}
    return PlanOptions(
        within=form.get("balance_within"),
        remove_brokers=frozenset(_whole_numbers(form, "remove_broker")),
        add_brokers=once("--add-broker", [_new_broker(text) for text in _list(form, "add_broker")]),
        include_topics=tuple(_list(form, "include_topic")),
        exclude_topics=tuple(_list(form, "exclude_topic")),
        **limits,
        **throttle,
    )


def _is_said(form: Mapping[str, Any], name: str) -> bool:
    return form.get(name) is not None


def _list(form: Mapping[str, Any], name: str) -> list[Any]:
    """A text would be read as a list of its letters."""
    value = form.get(name)
    if value is not None and not isinstance(value, list | tuple):
        raise UsageError.at(name, f"{value!r} is no list")
    return list(value or ())


def _whole_numbers(form: Mapping[str, Any], name: str) -> list[int]:
    strange = [value for value in _list(form, name) if not isinstance(value, int)]
    if strange:
        raise UsageError.at(name, f"{strange[0]!r} is no whole number")
    return _list(form, name)


def _new_broker(text: Any) -> tuple[int, str | None]:
    try:
        return new_broker(str(text))
    except ArgumentTypeError as error:
        raise InvalidInputError.at("add_broker", str(error)) from error
