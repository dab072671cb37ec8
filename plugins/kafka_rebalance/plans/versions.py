"""Versions of ``plan.json``: what version 1 calls and counts otherwise, read as version 2 and written as it was.

A plan stays in the version that it was sealed in, for its ``plan_id`` is the hash of that text. So a stored plan of
version 1 is read as version 2, worked with, and written again as version 1. The map in words: ``docs/plan-format.md``.
``kafka_rebalance.verify`` has a reader of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

FORMAT_VERSION = 2
# Path in version 1 → path in version 2.
RENAMED: Mapping[str, str] = {"parameters.is_order": "parameters.is_explicit"}
# Numbers of waves: from 0 in version 1, from 1 in version 2, as in SQL, moves.csv and the names of files.
COUNTED_FROM_ONE = ("moves[].wave",)
# Fields of ``parameters`` that version 1 has not, with the value that means the same as their absence.
ADDED_PARAMETERS: Mapping[str, Any] = {"caps": {}}

Document = Mapping[str, Any]
_NEW_NAMES = {old.partition(".")[2]: new.partition(".")[2] for old, new in RENAMED.items()}
_OLD_NAMES = {new: old for old, new in _NEW_NAMES.items()}


def as_newest(document: Document) -> Document:
    """A document of version 1 as one of version 2, any other as it is.

    What is not as version 1 has it stays as it is: whoever reads the fields refuses it with its place.
    """
    version = document.get("format_version")
    if type(version) is not int or version != 1:
        return document
    newer = _with_waves(document, 1) | {"format_version": FORMAT_VERSION}
    parameters = newer.get("parameters")
    if isinstance(parameters, Mapping):
        own = {name: value for name, value in parameters.items() if name not in _OLD_NAMES}
        newer["parameters"] = dict(ADDED_PARAMETERS) | _renamed(own, _NEW_NAMES)
    return newer


def as_version_1(document: Document) -> dict[str, Any]:
    """The way back: the document that ``as_newest`` was given."""
    older = _with_waves(document, -1) | {"format_version": 1}
    parameters = {name: value for name, value in document["parameters"].items() if name not in ADDED_PARAMETERS}
    return older | {"parameters": _renamed(parameters, _OLD_NAMES)}


def _renamed(fields: Document, names: Mapping[str, str]) -> dict[str, Any]:
    return {names.get(name, name): value for name, value in fields.items()}


def _with_waves(document: Document, step: int) -> dict[str, Any]:
    moves = document.get("moves")
    if not isinstance(moves, list):
        return dict(document)
    return dict(document) | {"moves": [_with_wave(move, step) for move in moves]}


def _with_wave(move: Any, step: int) -> Any:
    is_whole = isinstance(move, Mapping) and type(move.get("wave")) is int
    return dict(move) | {"wave": move["wave"] + step} if is_whole else move
