"""A plan of format version 1, read as one of version 2, which all rules are written for.

Version 1 says otherwise: whether a band or target was given (the parameter has another name), and waves count from 0.
Its hash is checked over the document as it is. A name of version 2 in a document of version 1 is a fault, as any
unknown field is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafka_rebalance.verify.faults import FaultList

# Path in version 2 → path in version 1. The map of ``plans`` is another one on purpose.
_RENAMED = {"parameters.is_explicit": "parameters.is_order"}
_PARAMETER_NAMES = {new.partition(".")[2]: old.partition(".")[2] for new, old in _RENAMED.items()}
# Parameters that version 1 has not → the value that means the same.
_LATER_PARAMETERS: Mapping[str, Any] = {"caps": {}}


def read_as_newest(document: Any, faults: FaultList) -> Any:
    """Never raises: what is not as version 1 has it is left for the check of the shape."""
    if not isinstance(document, Mapping) or not _is_version_1(document):
        return document
    newer = dict(document) | {"format_version": 2}
    parameters, moves = document.get("parameters"), document.get("moves")
    if isinstance(parameters, Mapping):
        newer["parameters"] = _parameters(parameters, faults)
    if isinstance(moves, list):
        newer["moves"] = [_move(move) for move in moves]
    return newer


def _is_version_1(document: Mapping[str, Any]) -> bool:
    version = document.get("format_version")
    return type(version) is int and version == 1


def _parameters(parameters: Mapping[str, Any], faults: FaultList) -> dict[str, Any]:
    for name in (*_PARAMETER_NAMES, *_LATER_PARAMETERS):
        if name in parameters:
            faults.add("shape", f"plan.parameters.{name}", "unknown field of format_version 1")
    newer = dict(_LATER_PARAMETERS) | dict(parameters)
    for name, old_name in _PARAMETER_NAMES.items():
        if old_name in newer:
            newer[name] = newer.pop(old_name)
    return newer


def _move(move: Any) -> Any:
    if isinstance(move, Mapping) and type(move.get("wave")) is int:
        return dict(move) | {"wave": move["wave"] + 1}
    return move
