"""A plan of an older format version, read as one of the newest, which all rules are written for.

Version 1 says otherwise: whether a band or target was given (the parameter has another name), and waves count from 0.
Each later version has fields more. The hash of a plan is checked over the document as it is. A name of a later version
in an older document is a fault, as any unknown field is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from kafka_rebalance.verify.faults import FaultList

NEWEST = 3
# Name of a parameter since version 2 → in version 1. The maps of ``plans`` are other ones on purpose.
_RENAMED = {"is_explicit": "is_order"}
# Version → fields that are new in it → the value that means the same as their absence, as JSON.
_LATER: Mapping[int, Mapping[str, str]] = {
    2: {"parameters.caps": "{}"},
    3: {
        "parameters.is_within_ordered": "null",
        "resources[].is_ordered": "null",
        "parameters.remove_racks": "[]",
        "parameters.headroom": "{}",
        "parameters.max_leader_changes_per_wave": "null",
        "waves[].leader_changes": "null",
        "waves[].leader_in_bytes_per_s": "null",
        "waves[].leader_out_bytes_per_s": "null",
        "rollback.waves[].leader_changes": "null",
        "rollback.waves[].leader_in_bytes_per_s": "null",
        "rollback.waves[].leader_out_bytes_per_s": "null",
        "parameters.prefer": '"bytes"',
        "parameters.slack": "null",
        "parameters.topic_brokers": "[]",
        "lower_bound[].is_within_slack": "null",
        "proofs": "{}",
        "parameters.max_reorders": "0",
        "after_failure": "null",
        "preferred_leaders": "null",
        "parameters.max_hours": "null",
        "parameters.survive": "null",
        "parameters.also_balance": "[]",
        "parameters.min_topic_leaders": "[]",
        "within_budget": "null",
        "trace": "[]",
    },
}


def read_as_newest(document: Any, faults: FaultList) -> Any:
    """Never raises: what is not as its version has it is left for the check of the shape."""
    if not isinstance(document, Mapping):
        return document
    version = document.get("format_version")
    if type(version) is not int or not 1 <= version < NEWEST:
        return document
    newer = dict(document)
    if version == 1:
        newer = _read_version_1(newer, faults)
    for later in range(version + 1, NEWEST + 1):
        for place, absent in _LATER[later].items():
            newer = _filled(newer, place.split("."), absent, _Where("plan", version, faults))
    newer["format_version"] = NEWEST
    return newer


class _Where:
    """A place in a document of an old version, for the fault that a name of a later one is."""

    def __init__(self, place: str, version: int, faults: FaultList) -> None:
        self.place, self.version, self.faults = place, version, faults

    def inner(self, name: str) -> _Where:
        return _Where(f"{self.place}{name if name.startswith('[') else '.' + name}", self.version, self.faults)

    def refuse(self) -> None:
        self.faults.add("shape", self.place, f"unknown field of format_version {self.version}")


def _filled(value: Any, path: list[str], absent: str, where: _Where) -> Any:
    if not isinstance(value, Mapping):
        return value
    head, *rest = path
    if not rest:
        if head in value:
            where.inner(head).refuse()
        return {head: json.loads(absent)} | dict(value)
    name = head.rstrip("[]")
    if name not in value:
        return value
    below, inner = value[name], where.inner(name)
    if head.endswith("[]"):
        if not isinstance(below, list):
            return value
        filled: Any = [_filled(element, rest, absent, inner.inner(f"[{n}]")) for n, element in enumerate(below)]
    else:
        filled = _filled(below, rest, absent, inner)
    return dict(value) | {name: filled}


def _read_version_1(document: dict[str, Any], faults: FaultList) -> dict[str, Any]:
    parameters, moves = document.get("parameters"), document.get("moves")
    if isinstance(parameters, Mapping):
        document["parameters"] = _parameters(parameters, faults)
    if isinstance(moves, list):
        document["moves"] = [_move(move) for move in moves]
    return document


def _parameters(parameters: Mapping[str, Any], faults: FaultList) -> dict[str, Any]:
    newer = dict(parameters)
    for name, old_name in _RENAMED.items():
        if name in newer:
            _Where(f"plan.parameters.{name}", 1, faults).refuse()
        if old_name in newer:
            newer[name] = newer.pop(old_name)
    return newer


def _move(move: Any) -> Any:
    if isinstance(move, Mapping) and type(move.get("wave")) is int:
        return dict(move) | {"wave": move["wave"] + 1}
    return move
