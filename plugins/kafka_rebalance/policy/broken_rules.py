"""Which limits of a policy a plan does not keep, each with the value seen and the value allowed.

A plan is judged by its document alone: whoever reviews a change of ``plan.json`` needs no cluster. A cost that the plan
does not know is not within any limit of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from kafka_rebalance.amounts import bytes_in_words, percent_in_words, seconds_in_words
from kafka_rebalance.policy.plan_policy import PlanPolicy
from kafka_rebalance.policy.weekly_window import longest_minutes

_EXAMPLES = 3


@dataclass(frozen=True, slots=True)
class BrokenRule:
    """``rule`` is the policy's key, for machines; ``words`` are for people."""

    rule: str
    words: str


def broken_rules(document: Mapping[str, Any], policy: PlanPolicy, now: datetime | None = None) -> list[BrokenRule]:
    """All of them, in the policy's order. ``document`` is a plan's; with ``now``, is it time to begin?

    A plan that moves nothing keeps every policy.
    """
    if not document["moves"]:
        return []
    return [*_costs(document, policy), *_forbidden(document, policy), *_times(document, policy, now)]


def _costs(document: Mapping[str, Any], policy: PlanPolicy) -> Iterator[BrokenRule]:
    cost, waves = document["cost"], document["waves"]
    seconds = [wave["seconds"] for wave in waves]
    longest = None if None in seconds else max(seconds, default=0.0)
    throttles = [wave["throttle_bytes_per_s"] for wave in waves]
    limits = (
        ("max_hours", policy.max_hours, _hours(cost["seconds"]), _hours_in_words),
        ("max_wave_hours", policy.max_wave_hours, _hours(longest), _hours_in_words),
        ("max_move_bytes", policy.max_move_bytes, cost["bytes"], bytes_in_words),
        ("max_moves", policy.max_moves, cost["replica_moves"], _count_in_words),
        ("max_leader_changes", policy.max_leader_changes, cost["leader_changes"], _count_in_words),
        ("max_throttle", policy.max_throttle_bytes_per_s, max(throttles, default=0), _rate_in_words),
        ("max_gap", policy.max_gap, _gap(document), percent_in_words),
    )
    for rule, most, seen, words in limits:
        if most is None:
            continue
        if seen is None:
            yield BrokenRule(rule, f"at most {words(most)}, and it is not known what the plan takes")
        elif seen > most:
            yield BrokenRule(rule, f"{words(seen)}, at most {words(most)} allowed")


def _forbidden(document: Mapping[str, Any], policy: PlanPolicy) -> Iterator[BrokenRule]:
    moves = document["moves"]
    if forbidden := [f"{move['topic']}-{move['partition']}" for move in moves if policy.forbids(move["topic"])]:
        yield BrokenRule("never_moved", f"the plan touches {_some(forbidden)}")
    filled = {broker for move in moves for broker in set(move["to"]) - set(move["from"])}
    if wrong := [f"broker {broker}" for broker in policy.never_filled if broker in filled]:
        yield BrokenRule("never_filled", f"the plan copies to {_some(wrong)}")


def _times(document: Mapping[str, Any], policy: PlanPolicy, now: datetime | None) -> Iterator[BrokenRule]:
    if not policy.windows:
        return
    minutes = longest_minutes(policy.windows)
    for number, wave in enumerate(document["waves"], start=1):
        if wave["seconds"] is None:
            yield BrokenRule("windows", f"it is not known how long wave {number} takes")
        elif wave["seconds"] > 60 * minutes:
            took, longest = seconds_in_words(wave["seconds"]), seconds_in_words(60 * minutes)
            yield BrokenRule("windows", f"wave {number} takes {took}, the longest window is {longest}")
    if now is not None and not any(window.is_open(now) for window in policy.windows):
        yield BrokenRule("windows", f"{now:%a %H:%M} UTC lies in no window")


def _gap(document: Mapping[str, Any]) -> float | None:
    """Of the bytes above their bound, as a share of it; 0 where nothing is copied."""
    (bound,) = [bound for bound in document["lower_bound"] if bound["cost"] == "bytes"] or [{"value": None}]
    taken = document["cost"]["bytes"]
    if taken is None or bound["value"] is None:
        return None
    excess = taken - bound["value"]
    if excess <= 0:
        return 0.0
    return float(excess / bound["value"]) if bound["value"] > 0 else float("inf")


def _hours(seconds: float | None) -> float | None:
    return None if seconds is None else seconds / 3600


def _some(names: list[str]) -> str:
    more = len(names) - _EXAMPLES
    return ", ".join(names[:_EXAMPLES]) + (f" and {more} more" if more > 0 else "")


def _hours_in_words(hours: float) -> str:
    return seconds_in_words(3600 * hours)


def _count_in_words(count: float) -> str:
    return f"{count:,.0f}"


def _rate_in_words(rate: float) -> str:
    return f"{bytes_in_words(rate)}/s"
