r"""A policy as a TOML file, to lie beside the plans that it rules::

max_hours = 6
max_wave_hours = 2
max_move_bytes = "2TB"
max_moves = 500
max_leader_changes = 1000
max_throttle = "100MB"          # of each broker in each direction
max_gap = "20%"                 # bytes above what is provably needed
never_moved = ["payments\\..*"]  # patterns of whole names
never_filled = [7]
windows = ["Mon-Fri 22:00-05:00", "Sat 00:00-00:00"]  # UTC
"""

from __future__ import annotations

import argparse
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kafka_rebalance.errors import InvalidInputError
from kafka_rebalance.options.limits import MOST_HOURS
from kafka_rebalance.policy import PlanPolicy, WeeklyWindow
from kafka_rebalance.visible_text import excerpt
from rebalance_advisor.input_bytes import MAX_SETTINGS_BYTES, ByteBudget, read_text
from rebalance_advisor.request.option_table import nearest
from rebalance_advisor.request.value_kinds import AMOUNT, BROKER, COUNT, PATTERN, RATE, RATIO


def _hours(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MOST_HOURS:
        raise argparse.ArgumentTypeError(f"{excerpt(value)} is no number of hours from 0 to {MOST_HOURS:,}")
    return float(value)


def _window(value: Any) -> WeeklyWindow:
    if not isinstance(value, str):
        raise argparse.ArgumentTypeError(f"{excerpt(value)} is no text")
    return WeeklyWindow.from_text(value)


# Key in the file → field of the policy, and who reads a value.
_SINGLE: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "max_hours": ("max_hours", _hours),
    "max_wave_hours": ("max_wave_hours", _hours),
    "max_move_bytes": ("max_move_bytes", AMOUNT.from_json),
    "max_moves": ("max_moves", COUNT.from_json),
    "max_leader_changes": ("max_leader_changes", COUNT.from_json),
    "max_throttle": ("max_throttle_bytes_per_s", RATE.from_json),
    "max_gap": ("max_gap", RATIO.from_json),
}
_LISTS: dict[str, Callable[[Any], Any]] = {
    "never_moved": PATTERN.from_json,
    "never_filled": BROKER.from_json,
    "windows": _window,
}
KEYS = (*_SINGLE, *_LISTS)


def read_policy(path: Path) -> PlanPolicy:
    """The policy of a file. Raises InvalidInputError with the key that is unknown or wrong, and for an empty file."""
    try:
        document = tomllib.loads(read_text(path, ByteBudget(MAX_SETTINGS_BYTES)))
    except (ValueError, RecursionError) as error:
        raise InvalidInputError.at(str(path), f"is no TOML: {error}") from error
    if not document:
        raise InvalidInputError.at(str(path), "sets no limit", f"known: {', '.join(KEYS)}")
    fields: dict[str, Any] = {}
    for key, value in document.items():
        if key not in KEYS:
            raise InvalidInputError.at(f"{path}: {excerpt(key)}", "is not known", nearest(key, KEYS))
        try:
            field, held = _held(key, value)
        except (argparse.ArgumentTypeError, InvalidInputError) as error:
            raise InvalidInputError.at(f"{path}: {key}", str(error)) from error
        fields[field] = held
    return PlanPolicy(**fields)


def _held(key: str, value: Any) -> tuple[str, Any]:
    if key in _SINGLE:
        field, read = _SINGLE[key]
        return field, read(value)
    if not isinstance(value, list):
        raise argparse.ArgumentTypeError(f"{excerpt(value)} is no list")
    return key, tuple(_LISTS[key](part) for part in value)
