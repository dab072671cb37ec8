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
_NOT_NEGATIVE = (
    "max_move_bytes",
    "max_moves",
    "max_leader_changes",
    "dead_band",
    "least_gain_per_byte",
    "max_reorders",
)
_AT_LEAST_ONE = (
    "replication_factor", "throttle_bytes_per_s", "moves_per_broker", "partitions_per_wave",
    "max_leader_changes_per_wave", "expires_after_hours",
)  # fmt: skip
_WITH_CAPACITY = ("disk", "in", "out", "cpu", "potential_out")
_WITHOUT_A_BAND = ("leader_in", "potential_out")
_PREFERENCES = ("bytes", "moves", "time", "leaders")
_BROKER_LISTS = ("remove_brokers", "demote_brokers", "exclude_brokers")


def check_parameters(parameters: dict[str, Any], faults: FaultList) -> None:
    """``parameters`` has the shape that ``shape`` asks for."""
    for names, least in ((_NOT_NEGATIVE, 0), (_AT_LEAST_ONE, 1)):
        for name in names:
            value = parameters[name]
            if value is not None and value < least:
                faults.add("parameter", f"parameters.{name}", f"{value} is below {least}")
    hours, within = parameters["max_hours"], parameters["balance_within"]
    if hours is not None and not hours > 0:
        faults.add("parameter", "parameters.max_hours", f"{hours} is not above 0")
    if within is not None and not 0 <= within < 1:
        faults.add("parameter", "parameters.balance_within", f"{within} is no share")
    _check_one_of_few(parameters, faults)
    _check_preference(parameters["prefer"], parameters["slack"], faults)
    _check_brokers(parameters, faults)
    _check_topics(parameters, faults)
    _check_topic_brokers(parameters["topic_brokers"], faults)
    _check_min_topic_leaders(parameters, faults)
    _check_targets(parameters["targets"], faults)
    _check_caps(parameters["caps"], faults)
    _check_headroom(parameters["headroom"], faults)
    for broker, capacity in parameters["capacities"].items():
        for name, value in capacity.items():
            if isinstance(value, NUMBER) and value < 0:
                faults.add("parameter", f"parameters.capacities.{broker}.{name}", f"{value} is below 0")
    _check_order(parameters, faults)


def _check_one_of_few(parameters: dict[str, Any], faults: FaultList) -> None:
    also = parameters["also_balance"]
    if also != sorted(set(also)) or not set(also) <= set(_WITHOUT_A_BAND):
        faults.add("parameter", "parameters.also_balance", "are no resources without a band, in order, each once")
    if parameters["survive"] not in (None, "broker", "rack"):
        faults.add("parameter", "parameters.survive", f"{parameters['survive'][:20]!r} is neither broker nor rack")


def _check_preference(prefer: str, slack: float | None, faults: FaultList) -> None:
    if prefer not in _PREFERENCES:
        faults.add("parameter", "parameters.prefer", f"{prefer[:20]!r} is none of {', '.join(_PREFERENCES)}")
    if slack is not None and not 0 <= slack < 1:
        faults.add("parameter", "parameters.slack", f"{slack} is no share")


def _check_brokers(parameters: dict[str, Any], faults: FaultList) -> None:
    for name in _BROKER_LISTS:
        brokers = parameters[name]
        if brokers != sorted(set(brokers)) or any(broker < 0 for broker in brokers):
            faults.add("parameter", f"parameters.{name}", "are no broker ids in order, each once")
    both = set(parameters["remove_brokers"]) & {int(broker) for broker in parameters["add_brokers"]}
    if both:
        faults.add("parameter", "parameters.remove_brokers", f"broker {min(both)} is both removed and added")
    racks = parameters["remove_racks"]
    if racks != sorted(set(racks)) or "" in racks:
        faults.add("parameter", "parameters.remove_racks", "are no racks in order, each once")
    if any(rack in racks for rack in parameters["add_brokers"].values()):
        faults.add("parameter", "parameters.remove_racks", "a broker is added on one")


def _check_topics(parameters: dict[str, Any], faults: FaultList) -> None:
    for name in ("include_topics", "exclude_topics"):
        for pattern in parameters[name]:
            try:
                re.compile(pattern)
            except (re.error, RecursionError, OverflowError) as error:
                faults.add("parameter", f"parameters.{name}", f"{pattern[:60]!r} is no regular expression ({error})")


def _check_topic_brokers(rules: list[dict[str, Any]], faults: FaultList) -> None:
    for number, rule in enumerate(rules):
        place = f"parameters.topic_brokers[{number}]"
        try:
            re.compile(rule["pattern"])
        except (re.error, RecursionError, OverflowError) as error:
            faults.add("parameter", place, f"{rule['pattern'][:60]!r} is no regular expression ({error})")
        brokers, racks = rule["brokers"], rule["racks"]
        if brokers != sorted(set(brokers)) or any(broker < 0 for broker in brokers):
            faults.add("parameter", f"{place}.brokers", "are no broker ids in order, each once")
        if racks != sorted(set(racks)) or "" in racks:
            faults.add("parameter", f"{place}.racks", "are no racks in order, each once")
        if (not brokers and not racks) or not rule["pattern"]:
            faults.add("parameter", place, "names no topic or no broker")


def _check_min_topic_leaders(parameters: dict[str, Any], faults: FaultList) -> None:
    for number, rule in enumerate(parameters["min_topic_leaders"]):
        place = f"parameters.min_topic_leaders[{number}]"
        try:
            re.compile(rule["pattern"])
        except (re.error, RecursionError, OverflowError) as error:
            faults.add("parameter", place, f"{rule['pattern'][:60]!r} is no regular expression ({error})")
        if rule["leaders"] < 1 or not rule["pattern"]:
            faults.add("parameter", place, "names no topic or no leader")
    if parameters["min_topic_leaders"] and (parameters["survive"] is not None or parameters["preferred_election"]):
        faults.add("parameter", "parameters.min_topic_leaders", "no plan keeps these beside survive or an election")


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


def _check_headroom(headroom: dict[str, float], faults: FaultList) -> None:
    for name, share in headroom.items():
        if name not in _WITH_CAPACITY or not 0 <= share < 1:
            faults.add("parameter", f"parameters.headroom.{name[:20]}", f"{share} is no share of a capacity")


def _check_order(parameters: dict[str, Any], faults: FaultList) -> None:
    """``is_explicit`` says whether a band, target or cap was given; a preferred election aims at no band."""
    within, elects = parameters["balance_within"], parameters["preferred_election"]
    if elects is not (within is None):
        faults.add("parameter", "parameters.balance_within", f"{within} with preferred_election {elects}")
    is_asked = bool(parameters["targets"] or parameters["caps"] or parameters["headroom"])
    is_ordered, place = parameters["is_within_ordered"], "parameters.is_within_ordered"
    if not is_ordered and within not in (None, DEFAULT_WITHIN):
        faults.add("parameter", place, f"says that {within} is the default")
    if is_ordered and (within is None or not parameters["is_explicit"]):
        faults.add("parameter", place, "says that a band was ordered, and none was asked for")
    if not is_ordered and within is not None and parameters["is_explicit"] and not is_asked:
        faults.add("parameter", place, "says that no band was ordered, and nothing else was")
    if not parameters["is_explicit"] and (is_asked or within not in (None, DEFAULT_WITHIN)):
        faults.add(
            "parameter", "parameters.is_explicit", "says that nothing was asked for, and a band, target or cap was"
        )
