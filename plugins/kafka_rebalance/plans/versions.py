"""Versions of ``plan.json``: what older ones say otherwise or have not, read as the newest, written as it was.

A plan stays in the version that it was sealed in, for its ``plan_id`` is the hash of that text. So a stored plan of
an older version is read as the newest, worked with, and written again as it was. The map in words:
``docs/plan-format.md``. ``kafka_rebalance.verify`` has a reader of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from functools import partial
from typing import Any

FORMAT_VERSION = 3
# Path in version 1 → path since version 2.
RENAMED: Mapping[str, str] = {"parameters.is_order": "parameters.is_explicit"}
# Numbers of waves: from 0 in version 1, from 1 since version 2, as in SQL, moves.csv and the names of files.
COUNTED_FROM_ONE = ("moves[].wave",)
# Version → place of each field that is new in it, with the value that means the same as its absence.
# A place is a path of names; [] stands for each entry of a list: "moves[].wave", "rollback.waves[].seconds".
ADDED: Mapping[int, Mapping[str, Any]] = {
    2: {"parameters.caps": {}},
    3: {
        "parameters.is_within_ordered": None,
        "resources[].is_ordered": None,
        "parameters.remove_racks": [],
        "parameters.headroom": {},
        "parameters.max_leader_changes_per_wave": None,
        "waves[].leader_changes": None,
        "waves[].leader_in_bytes_per_s": None,
        "waves[].leader_out_bytes_per_s": None,
        "rollback.waves[].leader_changes": None,
        "rollback.waves[].leader_in_bytes_per_s": None,
        "rollback.waves[].leader_out_bytes_per_s": None,
        "parameters.prefer": "bytes",
        "parameters.slack": None,
        "parameters.topic_brokers": [],
        "lower_bound[].is_within_slack": None,
        "proofs": {},
        "parameters.max_reorders": 0,
        "after_failure": None,
        "preferred_leaders": None,
        "parameters.max_hours": None,
        "parameters.survive": None,
        "parameters.also_balance": [],
        "parameters.min_topic_leaders": [],
        "within_budget": None,
        "trace": [],
    },
}

Document = Mapping[str, Any]
_NEW_NAMES = {old.partition(".")[2]: new.partition(".")[2] for old, new in RENAMED.items()}
_OLD_NAMES = {new: old for old, new in _NEW_NAMES.items()}


def as_newest(document: Document) -> Document:
    """A document of an older version as one of the newest, any other as it is.

    What is not as its version has it stays as it is: whoever reads the fields refuses it with its place.
    """
    version = document.get("format_version")
    if type(version) is not int or not 1 <= version < FORMAT_VERSION:
        return document
    newer = dict(document)
    if version == 1:
        newer = _with_names(_with_waves(newer, 1), _NEW_NAMES)
    for later in range(version + 1, FORMAT_VERSION + 1):
        for place, absent in ADDED[later].items():
            newer = _changed(newer, place, partial(_with_field, absent))
    return newer | {"format_version": FORMAT_VERSION}


def as_version(document: Document, version: int) -> dict[str, Any]:
    """The way back: the document of ``version`` that ``as_newest`` was given."""
    older = dict(document)
    for later in range(FORMAT_VERSION, version, -1):
        for place in ADDED[later]:
            older = _changed(older, place, _without_field)
    if version == 1:
        older = _with_names(_with_waves(older, -1), _OLD_NAMES)
    return older | {"format_version": version}


def _with_field(absent: Any, record: Document, name: str) -> dict[str, Any]:
    return {name: deepcopy(absent)} | dict(record)


def _without_field(record: Document, name: str) -> dict[str, Any]:
    return {key: value for key, value in record.items() if key != name}


def _changed(record: Any, place: str, change: Callable[[Document, str], dict[str, Any]]) -> Any:
    """The record with ``change`` made where ``place`` says; what is of another shape stays as it is."""
    if not isinstance(record, Mapping):
        return record
    name, _, rest = place.partition(".")
    if not rest:
        return change(record, name)
    key, is_list = name.removesuffix("[]"), name.endswith("[]")
    inner = record.get(key)
    if is_list and isinstance(inner, list):
        return dict(record) | {key: [_changed(element, rest, change) for element in inner]}
    if not is_list and isinstance(inner, Mapping):
        return dict(record) | {key: _changed(inner, rest, change)}
    return record


def _with_names(document: dict[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Parameters renamed; a parameter that has the new name already is left for whoever reads it to refuse."""
    parameters = document.get("parameters")
    if not isinstance(parameters, Mapping):
        return document
    own = {name: value for name, value in parameters.items() if name not in names.values()}
    return document | {"parameters": {names.get(name, name): value for name, value in own.items()}}


def _with_waves(document: dict[str, Any], step: int) -> dict[str, Any]:
    moves = document.get("moves")
    if not isinstance(moves, list):
        return document
    return document | {"moves": [_with_wave(move, step) for move in moves]}


def _with_wave(move: Any, step: int) -> Any:
    is_whole = isinstance(move, Mapping) and type(move.get("wave")) is int
    return dict(move) | {"wave": move["wave"] + step} if is_whole else move
