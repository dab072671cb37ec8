"""Kinds and ranges of the options' values, whoever gives them: command line, form, REST call, a plan's parameters."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kafka_rebalance.errors import UsageError
from kafka_rebalance.options.limits import LEAST_RATIO, MOST_BROKER_ID, MOST_FACTOR, MOST_HOURS, MOST_RATIO, MOST_WHOLE
from kafka_rebalance.options.loss_kind import LOSSES
from kafka_rebalance.options.preference import Preference
from kafka_rebalance.options.target import Target
from kafka_rebalance.options.topic_brokers import TopicBrokers
from kafka_rebalance.options.topic_leaders import TopicLeaders
from kafka_rebalance.resources import BOUNDED, ON_REQUEST, RESOURCES, ROWS
from kafka_rebalance.snapshot.model import Capacity

if TYPE_CHECKING:
    from kafka_rebalance.options.plan_options import PlanOptions

# name → lowest, highest, None allowed
_WHOLE = {
    "max_move_bytes": (0, MOST_WHOLE, True),
    "max_moves": (0, MOST_WHOLE, True),
    "max_leader_changes": (0, MOST_WHOLE, True),
    "replication_factor": (1, MOST_FACTOR, True),
    "throttle_bytes_per_s": (1, MOST_WHOLE, False),
    "moves_per_broker": (1, MOST_WHOLE, True),
    "partitions_per_wave": (1, MOST_WHOLE, False),
    "max_leader_changes_per_wave": (1, MOST_WHOLE, True),
    "max_reorders": (0, MOST_WHOLE, False),
    "expires_after_hours": (1, MOST_HOURS, False),
}
_RATIOS = {"dead_band": (0.0, MOST_RATIO), "least_gain_per_byte": (0.0, MOST_RATIO)}
_FLAGS = ("leaders_only", "preferred_election", "with_frontier")
_BROKER_SETS = ("remove_brokers", "demote_brokers", "exclude_brokers")
_PATTERNS = {"include_topics": "--include-topic", "exclude_topics": "--exclude-topic"}


def require_values(options: PlanOptions) -> None:
    """Raises UsageError for the first value that is of the wrong kind or out of its range."""
    for name, (low, high, may_lack) in _WHOLE.items():
        _require_whole(name, getattr(options, name), low, high, may_lack=may_lack)
    for name, (lowest, highest) in _RATIOS.items():
        _require_number(name, getattr(options, name), lowest, highest)
    for name in _FLAGS:
        if not isinstance(getattr(options, name), bool):
            raise UsageError.at(name, f"{_short(getattr(options, name))} is neither true nor false")
    if options.within is not None and not (_is_number(options.within) and 0 <= options.within < 1):
        raise UsageError.at("--balance-within", f"{_short(options.within)} is no share", "give 10% or 0.1")
    if options.max_hours is not None and not (_is_number(options.max_hours) and 0 < options.max_hours <= MOST_HOURS):
        raise UsageError.at("--max-hours", f"{_short(options.max_hours)} is no number of hours", "give 6 or 1.5")
    _require_one_of_few(options)
    _require_preference(options.prefer, options.slack)
    _require_targets(options.targets)
    _require_caps(options.caps)
    _require_headroom(options.headroom)
    _require_brokers(options)
    _require_racks(options.remove_racks)
    _require_topic_rules(options)
    _require_capacities(options.capacities)
    for name, option in _PATTERNS.items():
        _require_patterns(option, getattr(options, name))


def _require_topic_rules(options: PlanOptions) -> None:
    for option, rules, kind, what in (
        ("--topic-brokers", options.topic_brokers, TopicBrokers, "brokers"),
        ("--min-topic-leaders", options.min_topic_leaders, TopicLeaders, "leaders"),
    ):
        if not isinstance(rules, tuple) or not all(isinstance(rule, kind) for rule in rules):
            raise UsageError.at(option, f"{_short(rules)} are no rules of topics and {what}")


def _require_one_of_few(options: PlanOptions) -> None:
    if options.survive is not None and options.survive not in LOSSES:
        raise UsageError.at("--survive", f"{_short(options.survive)} cannot be lost", f"give {' or '.join(LOSSES)}")
    if not isinstance(options.also_balance, frozenset) or not options.also_balance <= set(ON_REQUEST):
        known = f"known: {', '.join(ON_REQUEST)}"
        raise UsageError.at("--also-balance", f"{_short(options.also_balance)} are no such resources", known)


def _require_whole(name: str, value: Any, low: int, high: int, *, may_lack: bool) -> None:
    if value is None and may_lack:
        return
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        hint = f"give a whole number from {low:,} to {high:,}" + (", or leave it out" if may_lack else "")
        raise UsageError.at(_option(name), f"{_short(value)} cannot be", hint)


def _require_number(name: str, value: Any, low: float, high: float) -> None:
    if not (_is_number(value) and low <= value <= high):
        raise UsageError.at(_option(name), f"{_short(value)} cannot be", f"give a number from {low:g} to {high:g}")


def _require_preference(prefer: Any, slack: Any) -> None:
    names = [preference.value for preference in Preference]
    if not isinstance(prefer, str) or prefer not in names:
        raise UsageError.at("--prefer", f"{_short(prefer)} is no cost", f"known: {', '.join(names)}")
    if slack is not None and not (_is_number(slack) and 0 <= slack < 1):
        raise UsageError.at("--slack", f"{_short(slack)} is no share", "give 5% or 0.05")


def _require_targets(targets: Mapping[str, Target]) -> None:
    if not isinstance(targets, Mapping):
        raise UsageError.at("--target", f"{_short(targets)} is no list of targets")
    for resource, target in targets.items():
        if resource not in RESOURCES:
            raise UsageError.at("--target", f"{_short(resource)} is no resource", f"known: {', '.join(RESOURCES)}")
        place = f"--target {resource}"
        if not isinstance(target, Target):
            raise UsageError.at(place, f"{_short(target)} is no target")
        if target.low is None and target.high is None:
            raise UsageError.at(place, "has neither a lower nor an upper limit", "give HIGH or LOW..HIGH")
        if target.high is not None and not LEAST_RATIO <= target.high <= MOST_RATIO:
            problem = f"no broker can carry {target.high:g} × the mean at most"
            raise UsageError.at(place, problem, f"give a multiple of the mean from {LEAST_RATIO:g} to {MOST_RATIO:g}")
        if target.low is not None and not 0 <= target.low <= MOST_RATIO:
            raise UsageError.at(place, f"no broker can carry {target.low:g} × the mean at least")


def _require_caps(caps: Mapping[str, float]) -> None:
    if not isinstance(caps, Mapping):
        raise UsageError.at("--cap", f"{_short(caps)} is no list of caps")
    for resource, cap in caps.items():
        if resource not in RESOURCES:
            raise UsageError.at("--cap", f"{_short(resource)} is no resource", f"known: {', '.join(RESOURCES)}")
        place = f"--cap {resource}"
        if not (_is_number(cap) and 0 < cap <= MOST_WHOLE):
            raise UsageError.at(place, f"{_short(cap)} cannot be", f"give a number above 0, up to {MOST_WHOLE:,}")
        if ROWS[resource].is_counted and cap != int(cap):
            raise UsageError.at(place, f"{_short(cap)} cannot be", f"{resource} are counted: give a whole number")


def _require_headroom(headroom: Mapping[str, float]) -> None:
    if not isinstance(headroom, Mapping):
        raise UsageError.at("--headroom", f"{_short(headroom)} is no list of shares")
    for resource, share in headroom.items():
        if resource not in BOUNDED:
            raise UsageError.at("--headroom", f"{_short(resource)} has no capacity", f"known: {', '.join(BOUNDED)}")
        if not (_is_number(share) and 0 <= share < 1):
            raise UsageError.at(f"--headroom {resource}", f"{_short(share)} is no share", "give 20% or 0.2")


def _require_racks(racks: frozenset[str]) -> None:
    if not isinstance(racks, frozenset):
        raise UsageError.at("--remove-rack", f"{_short(racks)} is no list of racks")
    for rack in racks:
        if not isinstance(rack, str) or not rack:
            raise UsageError.at("--remove-rack", f"{_short(rack)} is no rack")


def _require_brokers(options: PlanOptions) -> None:
    named = {name: getattr(options, name) for name in _BROKER_SETS} | {"add_brokers": options.add_brokers}
    for name, brokers in named.items():
        option = f"--{name.removesuffix('s').replace('_', '-')}"
        if not isinstance(brokers, frozenset | Mapping):
            raise UsageError.at(option, f"{_short(brokers)} is no list of brokers")
        for broker in brokers:
            if not _is_broker_id(broker):
                raise UsageError.at(option, f"{_short(broker)} is no broker id", f"0 to {MOST_BROKER_ID:,}")
    for broker, rack in options.add_brokers.items():
        if rack is not None and not isinstance(rack, str):
            raise UsageError.at(f"--add-broker {broker}", f"{_short(rack)} is no rack")


def _require_capacities(capacities: Mapping[int, Capacity]) -> None:
    if not isinstance(capacities, Mapping):
        raise UsageError.at("--capacity", f"{_short(capacities)} is no list of capacities")
    for broker, capacity in capacities.items():
        if not _is_broker_id(broker) or not isinstance(capacity, Capacity):
            raise UsageError.at("--capacity", f"{_short(broker)} is no broker with a capacity")


def _require_patterns(option: str, patterns: Any) -> None:
    if not isinstance(patterns, tuple):
        raise UsageError.at(option, f"{_short(patterns)} is no list of regular expressions")
    for pattern in patterns:
        if not isinstance(pattern, str):
            raise UsageError.at(option, f"{_short(pattern)} is no text")
        try:
            re.compile(pattern)
        except (re.error, OverflowError, RecursionError) as error:
            raise UsageError.at(option, f"{_short(pattern)} is no regular expression ({error})") from error


def _is_number(value: Any) -> bool:
    """A finite number; a whole one may be too long for a float."""
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and (isinstance(value, int) or math.isfinite(value))
    )


def _is_broker_id(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_BROKER_ID


def _option(name: str) -> str:
    """The option as people type it."""
    return "--throttle" if name == "throttle_bytes_per_s" else f"--{name.replace('_', '-')}"


def _short(value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > 200:
        return f"a number of {value.bit_length():,} bits"
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
