"""The plan's parameters: each there, of its kind, in its range, and none that contradicts another.

A plan is judged by its own parameters, so one that means nothing (a negative limit, a throttle of nothing) would let
anything pass.
"""

from __future__ import annotations

import re
from typing import Any

from kafka_rebalance.resources import RESOURCES, UNITS
from kafka_rebalance.verify.document.shape import NUMBER
from kafka_rebalance.verify.faults import FaultList

# What holds where nothing is asked for.
DEFAULT_WITHIN = 0.10
_NOT_NEGATIVE = ("max_move_bytes", "max_moves", "max_leader_changes", "dead_band", "least_gain_per_byte")
_AT_LEAST_ONE = (
    "replication_factor", "throttle_bytes_per_s", "moves_per_broker", "partitions_per_wave", "expires_after_hours",
)  # fmt: skip
_BROKER_LISTS = ("remove_brokers", "demote_brokers", "exclude_brokers")


def check_parameters(parameters: dict[str, Any], faults: FaultList) -> None:
    """``parameters`` has the shape that ``shape`` asks for."""
    for names, least in ((_NOT_NEGATIVE, 0), (_AT_LEAST_ONE, 1)):
        for name in names:
            value = parameters[name]
            if value is not None and value < least:
                faults.add("parameter", f"parameters.{name}", f"{value} is below {least}")
    within = parameters["balance_within"]
    if within is not None and not 0 <= within < 1:
        faults.add("parameter", "parameters.balance_within", f"{within} is no share")
    _check_brokers(parameters, faults)
    _check_topics(parameters, faults)
    _check_targets(parameters["targets"], faults)
    _check_caps(parameters["caps"], faults)
    for broker, capacity in parameters["capacities"].items():
        for name, value in capacity.items():
            if isinstance(value, NUMBER) and value < 0:
                faults.add("parameter", f"parameters.capacities.{broker}.{name}", f"{value} is below 0")
    _check_order(parameters, faults)


def _check_brokers(parameters: dict[str, Any], faults: FaultList) -> None:
    for name in _BROKER_LISTS:
        brokers = parameters[name]
        if brokers != sorted(set(brokers)) or any(broker < 0 for broker in brokers):
            faults.add("parameter", f"parameters.{name}", "are no broker ids in order, each once")
    both = set(parameters["remove_brokers"]) & {int(broker) for broker in parameters["add_brokers"]}
    if both:
        faults.add("parameter", "parameters.remove_brokers", f"broker {min(both)} is both removed and added")


def _check_topics(parameters: dict[str, Any], faults: FaultList) -> None:
    for name in ("include_topics", "exclude_topics"):
        for pattern in parameters[name]:
            try:
                re.compile(pattern)
            except (re.error, RecursionError, OverflowError) as error:
                faults.add("parameter", f"parameters.{name}", f"{pattern[:60]!r} is no regular expression ({error})")


def _check_targets(targets: dict[str, list[float | None]], faults: FaultList) -> None:
    for name, limits in targets.items():
        place = f"parameters.targets.{name[:20]}"
        if name not in RESOURCES or len(limits) != 2:
            faults.add("parameter", place, "is no LOW..HIGH of a resource")
            continue
        low, high = limits
        if any(limit is not None and limit < 0 for limit in limits) or (
            low is not None and high is not None and low > high
        ):
            faults.add("parameter", place, f"{low}..{high} is no band")


def _check_caps(caps: dict[str, float], faults: FaultList) -> None:
    for name, cap in caps.items():
        if name not in RESOURCES or cap <= 0 or (UNITS[name] == "count" and cap != int(cap)):
            faults.add("parameter", f"parameters.caps.{name[:20]}", f"{cap} is no cap of a resource")


def _check_order(parameters: dict[str, Any], faults: FaultList) -> None:
    """``is_explicit`` says whether a band, target or cap was given; a preferred election aims at no band."""
    within, elects = parameters["balance_within"], parameters["preferred_election"]
    if elects is not (within is None):
        faults.add("parameter", "parameters.balance_within", f"{within} with preferred_election {elects}")
    is_asked = bool(parameters["targets"] or parameters["caps"])
    if not parameters["is_explicit"] and (is_asked or within not in (None, DEFAULT_WITHIN)):
        faults.add(
            "parameter", "parameters.is_explicit", "says that nothing was asked for, and a band, target or cap was"
        )
