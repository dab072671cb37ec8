"""What somebody asks for in a form, kept with the run → the planner's options. Empty fields are no wishes."""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Mapping
from typing import Any

from kafka_rebalance.errors import InvalidInputError
from kafka_rebalance.plan_making.options import PlanOptions
from rebalance_advisor.option_values import new_broker


def plan_options(form: Mapping[str, Any]) -> PlanOptions:
    """The options of a run's parameters; fields that are about something else are passed over.

    Raises InvalidInputError for a value that cannot be.
    """
    limits = {
        name: form[name] for name in ("max_move_bytes", "max_moves", "max_leader_changes") if _is_said(form, name)
    }
    throttle = {"throttle_bytes_per_s": form["throttle"]} if _is_said(form, "throttle") else {}
    return PlanOptions(
        within=form.get("balance_within"),
        remove_brokers=frozenset(form.get("remove_broker") or ()),
        add_brokers=dict(_new_broker(each) for each in form.get("add_broker") or ()),
        include_topics=tuple(form.get("include_topic") or ()),
        exclude_topics=tuple(form.get("exclude_topic") or ()),
        **limits,
        **throttle,
    )


def _is_said(form: Mapping[str, Any], name: str) -> bool:
    return form.get(name) is not None


def _new_broker(text: str) -> tuple[int, str | None]:
    try:
        return new_broker(text)
    except ArgumentTypeError as error:
        raise InvalidInputError.at("add_broker", str(error)) from error
