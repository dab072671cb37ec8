"""The shape of plan.json: every field there, none unknown, each of its kind.

A shape is a type, a tuple of alternatives, ``[shape]`` for a list, ``{key: shape}`` for an object with exactly those
keys, or ``Each(shape)`` for an object with any keys.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kafka_rebalance.verify.faults import FaultList


@dataclass(frozen=True, slots=True)
class Each:
    """An object whose values all have one shape; ``by_broker``: its keys are broker ids as text."""

    shape: Any
    by_broker: bool = False


class Fact:
    """An object of ``code``, which need not be known, and ``args``: plain values, lists of these, and facts."""


FACT = Fact()
_ITEM: Any = (bool, int, float, str, type(None), FACT)
_ARGUMENT: Any = (*_ITEM, [(*_ITEM, [_ITEM])])
_DEEPEST_FACT = 4
NUMBER = (int, float)
MAYBE_NUMBER = (int, float, type(None))
MAYBE_TEXT = (str, type(None))
WAVE = {
    "moves": [int],
    "bytes": (int, type(None)),
    "seconds": MAYBE_NUMBER,
    "throttle_bytes_per_s": int,
    "free_disk_needed": Each(int, by_broker=True),
    "leader_changes": (int, type(None)),
    "leader_in_bytes_per_s": MAYBE_NUMBER,
    "leader_out_bytes_per_s": MAYBE_NUMBER,
}
MOVE = {
    "topic": str,
    "partition": int,
    "from": [int],
    "to": [int],
    "leader_from": (int, type(None)),
    "leader_to": int,
    "kind": str,
    "bytes": (int, type(None)),
    "wave": int,
    "reason": FACT,
    "worse_without": FACT,
}
COST = {
    "replica_moves": int,
    "bytes": (int, type(None)),
    "leader_changes": int,
    "seconds": MAYBE_NUMBER,
    "seconds_slot_filling": MAYBE_NUMBER,
}
BOUND = {
    "cost": str,
    "value": NUMBER,
    "gap": MAYBE_NUMBER,
    "proof": str,
    "is_within_slack": (bool, type(None)),
}
WORST_LOSS = {
    "takeover": (type(None), {"lost": str, "broker": int, "leaders": int, "even_leaders": int}),
    "load": (type(None), {"lost": str, "broker": int, "resource": str, "load": NUMBER, "capacity": NUMBER}),
}
LOSSES = {"broker": (type(None), WORST_LOSS), "rack": (type(None), WORST_LOSS)}
COVER = {"broker": int, "resource": str, "price": NUMBER, "gone": Each([int]), "come": Each([int])}
PLAN = {
    "format_version": int,
    "plan_id": str,
    "cluster": str,
    "cluster_id": MAYBE_TEXT,
    "snapshot_id": str,
    "captured_at": MAYBE_TEXT,
    "expires_at": MAYBE_TEXT,
    "topic_ids": Each(MAYBE_TEXT),
    "seen": {
        "broker_racks": Each(MAYBE_TEXT, by_broker=True),
        "dead_brokers": [int],
        "topic_partitions": Each(int),
        "reassigning": [[(str, int)]],
    },
    "parameters": dict,  # read by ``parameters``
    "seed": int,
    "advisor_version": str,
    "verdict": str,
    "reasons": [FACT],
    "resources": [
        {
            "resource": str,
            "unit": str,
            "source": str,
            "mean_level": NUMBER,
            "basis": str,
            "band_asked": [MAYBE_NUMBER],
            "widened_to": [MAYBE_NUMBER],
            "is_ordered": bool,
            "skew_before": NUMBER,
            "skew_after": NUMBER,
            "capacity": (type(None), Each(NUMBER, by_broker=True)),
        }
    ],
    "left_out": Each(FACT),
    "before": Each(Each(NUMBER, by_broker=True)),
    "after": Each(Each(NUMBER, by_broker=True)),
    "topic_excess_replicas": [int],
    "cost": COST,
    "lower_bound": [BOUND],
    "certificate": Each(Each(NUMBER, by_broker=True)),
    "proofs": Each(
        {
            "prices": Each(Each(NUMBER, by_broker=True)),
            "receiving": Each(NUMBER, by_broker=True),
            "sending": Each(NUMBER, by_broker=True),
            "covers": [COVER],
        }
    ),
    "within_budget": (
        type(None),
        {
            "imbalance_before": NUMBER,
            "imbalance_after": NUMBER,
            "least_imbalance": MAYBE_NUMBER,
            "prices": Each(Each(NUMBER, by_broker=True)),
            "charges": Each(NUMBER),
        },
    ),
    "frontier": [
        {
            "tolerance": MAYBE_NUMBER,
            "bytes": (int, type(None)),
            "replica_moves": int,
            "leader_changes": int,
            "lower_bound_bytes": MAYBE_NUMBER,
            "skew": Each(NUMBER),
            "name": MAYBE_TEXT,
            "is_recommended": bool,
            "reasons": [FACT],
        }
    ],
    "moves": [MOVE],
    "waves": [WAVE],
    "rollback": (type(None), COST | {"waves": [WAVE], "not_undone": [int]}),
    "preconditions": [FACT],
    "explanations": [FACT],
    "robustness": (type(None), {"trials": int, "noise": NUMBER, "verdict_stands": int}),
    "after_failure": (type(None), {"before": LOSSES, "after": LOSSES}),
    "preferred_leaders": (
        type(None),
        {"before": Each(int, by_broker=True), "after": Each(int, by_broker=True)},
    ),
    "continues": MAYBE_TEXT,
    "trace": [{"stage": str, "replica_moves": int, "bytes": (int, type(None)), "leader_changes": int}],
}
CODE = "[a-z][a-z0-9_]{0,60}"
_CODE = re.compile(CODE)
_BROKER = re.compile(r"0|[1-9][0-9]{0,9}")
# What Kafka and everybody else can count to; no figure of a plan comes near it.
MOST = 2**63 - 1
_GREATEST = 1e300
LENGTHS = {"band_asked": 2, "widened_to": 2, "topic_excess_replicas": 2}
FORMAT_VERSION = 1
VERDICTS = ("rebalance", "nothing_to_do", "cannot_tell", "infeasible", "not_fixable_by_moving")


def check_shape(document: Any, faults: FaultList) -> bool:
    """Whether the document can be read at all; each place that is wrong is named."""
    if is_of_another_version(document, faults):
        return False
    _check(document, PLAN, "plan", faults)
    if not faults.has_any() and document["verdict"] not in VERDICTS:
        faults.add("shape", "plan.verdict", f"{document['verdict']!r} is none of {', '.join(VERDICTS)}")
    return not faults.has_any("shape")


def is_of_another_version(document: Any, faults: FaultList) -> bool:
    """Whether ``format_version`` is another whole number; that is then the one fault, for all fields may differ."""
    version = document.get("format_version") if isinstance(document, dict) else None
    if type(version) is not int or version == FORMAT_VERSION:
        return False
    words = f"{version} is unknown, this advisor reads {FORMAT_VERSION}: make the plan anew"
    faults.add("shape", "plan.format_version", words)
    return True


def check_fields(value: Any, shape: Any, place: str, faults: FaultList) -> None:
    """A fault of code shape for each place of ``value`` that is not of ``shape``."""
    _check(value, shape, place, faults)


def _check(value: Any, shape: Any, place: str, faults: FaultList) -> None:
    alternatives = shape if isinstance(shape, tuple) else (shape,)
    fitting = [alternative for alternative in alternatives if _fits(value, alternative)]
    if not fitting:
        faults.add("shape", place, f"{_short(value)} is of the wrong kind")
        return
    inner = fitting[0]
    if isinstance(inner, Fact):
        _check_fact(value, place, faults)
    elif isinstance(inner, dict):
        _check_object(value, inner, place, faults)
    elif isinstance(inner, Each):
        _check_keys(value, inner, place, faults)
    elif isinstance(inner, list):
        if LENGTHS.get(place.rpartition(".")[2], len(value)) != len(value):
            faults.add("shape", place, f"{len(value)} values")
        for number, element in enumerate(value):
            if not _fits_at_a_glance(element, inner[0]):
                _check(element, inner[0], f"{place}[{number}]", faults)


def _check_fact(value: Mapping[str, Any], place: str, faults: FaultList) -> None:
    if place.count(".args.") >= _DEEPEST_FACT:
        faults.add("shape", place[:120], "facts are nested too deep")
        return
    _check_object(value, {"code": str, "args": Each(_ARGUMENT)}, place, faults)
    if isinstance(value.get("code"), str) and not _CODE.fullmatch(value["code"]):
        faults.add("shape", f"{place}.code", f"{_short(value['code'])} is no code")


def _check_keys(value: Mapping[str, Any], shape: Each, place: str, faults: FaultList) -> None:
    for key, element in value.items():
        if not isinstance(key, str) or (shape.by_broker and not _BROKER.fullmatch(key)):
            faults.add("shape", f"{place}.{_short(key)}", "the key is no broker id")
        if not _fits_at_a_glance(element, shape.shape):
            _check(element, shape.shape, f"{place}.{key}", faults)


def _check_object(value: Mapping[str, Any], shape: dict[str, Any], place: str, faults: FaultList) -> None:
    for key in value.keys() - shape.keys():
        faults.add("shape", f"{place}.{key}"[:120], "unknown field")
    for key, inner in shape.items():
        if key not in value:
            faults.add("shape", f"{place}.{key}", "missing")
        elif not _fits_at_a_glance(value[key], inner):
            _check(value[key], inner, f"{place}.{key}", faults)


def _fits_at_a_glance(value: Any, shape: Any) -> bool:
    """Most of a plan are plain values of just the kind that is asked for: nothing more to be said of their place."""
    kind = type(value)
    if kind is not shape and not (isinstance(shape, tuple) and kind in shape):
        return False
    if kind is int:
        return bool(-MOST <= value <= MOST)
    if kind is float:
        return bool(abs(value) <= _GREATEST)
    return kind is str or kind is bool or value is None


def _fits(value: Any, shape: Any) -> bool:
    """Whether the outermost kind is right: a bool is no number, and a number is finite."""
    if isinstance(shape, dict | Each | Fact):
        return isinstance(value, Mapping)
    if isinstance(shape, list):
        return isinstance(value, list)
    if shape is float:
        return isinstance(value, float) and abs(value) <= _GREATEST
    if shape is int:
        return isinstance(value, int) and not isinstance(value, bool) and abs(value) <= MOST
    return isinstance(value, shape)


def _short(value: Any) -> str:
    if isinstance(value, list | dict):
        return f"{'a list' if isinstance(value, list) else 'an object'} of {len(value)}"
    text = ascii(value) if not isinstance(value, int) or abs(value) <= MOST else "a number beyond 2^63"
    return text if len(text) <= 60 else text[:57] + "..."
