"""Broker capacities: our CSV, or Cruise Control's capacity JSON.

CSV: ``broker,disk_bytes,in_bytes_per_s,out_bytes_per_s,cpu_percent``; empty is unknown. Cruise Control uses MiB and
KiB/s, broker -1 as default, the sum of disks, and 100 percent for ``num.cores``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from kafka_assignors.errors import InvalidInputError
from kafka_assignors.visible_text import excerpt
from kafka_rebalance.snapshot.figures import CAPACITY_LIMITS, SMALLEST_CAPACITY
from kafka_rebalance.snapshot.model import Broker, Capacity, ClusterSnapshot, LogDir
from rebalance_advisor.dumps.input_file import parse_json
from rebalance_advisor.dumps.text_lines import Line, csv_rows, whole_number
from rebalance_advisor.input_bytes import read_text

_COLUMNS = tuple(CAPACITY_LIMITS)
_UNITS = {
    "DISK": ("disk_bytes", 2**20),
    "NW_IN": ("in_bytes_per_s", 2**10),
    "NW_OUT": ("out_bytes_per_s", 2**10),
    "CPU": ("cpu_percent", 1),
}
_DEFAULT = -1


@dataclass(frozen=True, slots=True)
class Capacities:
    """``disks``: bytes by path, by broker; -1 is the default."""

    of_broker: Mapping[int, Capacity] = field(default_factory=dict)
    default: Capacity | None = None
    disks: Mapping[int, Mapping[str, float]] = field(default_factory=dict)


def read_capacity(path: str | Path) -> Capacities:
    path = Path(path)
    return parse_capacity(read_text(path), str(path))


def parse_capacity(text: str, location: str) -> Capacities:
    if text.lstrip().startswith(("{", "[")):
        return _cruise_control(parse_json(text, location), location)
    rows = csv_rows(text, location, ("broker",), _COLUMNS)
    capacities: dict[int, Capacity] = {}
    for line, cells in rows:
        broker = whole_number(cells["broker"], line, "a broker id")
        if broker in capacities:
            raise line.refuse(f"broker {broker} is listed twice")
        capacities[broker] = Capacity(**{name: _csv_number(cells[name], name, line) for name in _COLUMNS})
    if not capacities:
        raise InvalidInputError.at(location, "holds no broker")
    return Capacities(capacities)


def with_capacity(snapshot: ClusterSnapshot, capacities: Capacities) -> ClusterSnapshot:
    strangers = sorted(capacities.of_broker.keys() - {broker.id for broker in snapshot.brokers})
    if strangers:
        raise InvalidInputError.at("capacity", f"broker {strangers[0]} is not among the brokers of {snapshot.cluster}")
    brokers = []
    for broker in snapshot.brokers:
        given = capacities.of_broker.get(broker.id, capacities.default)
        row = broker.id if broker.id in capacities.of_broker else _DEFAULT
        log_dirs = _on_disks(snapshot, broker, capacities.disks.get(row, {}))
        brokers.append(replace(broker, capacity=broker.capacity.overridden(given), log_dirs=log_dirs))
    return replace(snapshot, brokers=tuple(brokers))


def _on_disks(snapshot: ClusterSnapshot, broker: Broker, disks: Mapping[str, float]) -> tuple[LogDir, ...]:
    """Log dirs at or below a path get its size."""
    disk_of = {
        log_dir.path: max((path for path in disks if _is_below(log_dir.path, path)), key=len, default=None)
        for log_dir in broker.log_dirs
        if log_dir.total_bytes is None and log_dir.error is None
    }
    held = snapshot.held_bytes(broker)
    if held is None:
        return broker.log_dirs
    sizes: dict[str, tuple[int, int]] = {}
    for disk in sorted({mount for mount in disk_of.values() if mount is not None}):
        used = sum(held[path] for path, mount in disk_of.items() if mount == disk)
        total = int(disks[disk])
        while (total, max(total - used, 0)) in sizes.values():
            total -= 1  # equal figures: one disk
        sizes[disk] = total, max(total - used, 0)
    figures = [sizes.get(disk_of.get(log_dir.path) or "") for log_dir in broker.log_dirs]
    return tuple(
        log_dir if told_of is None else replace(log_dir, total_bytes=told_of[0], usable_bytes=told_of[1])
        for log_dir, told_of in zip(broker.log_dirs, figures, strict=True)
    )


def _is_below(path: str, disk: str) -> bool:
    return path == disk or path.startswith(disk.rstrip("/") + "/")


def looks_like_capacity(text: str) -> bool:
    names = {name.strip().lower() for name in text.lstrip().split("\n", 1)[0].split(",")}
    return '"brokerCapacities"' in text or ("broker" in names and bool(names & set(_COLUMNS)))


def _csv_number(cell: str, name: str, line: Line) -> float | None:
    location = f"{line.location}, {name}"
    return None if not cell else _within_limits(_positive(cell, location), name, location)


def _positive(value: Any, location: str) -> float:
    try:
        number = float(value) if isinstance(value, (str, int, float)) and not isinstance(value, bool) else math.nan
    except (ValueError, OverflowError):
        number = math.nan
    if not (math.isfinite(number) and number > 0):
        raise InvalidInputError.at(
            location, f"{excerpt(value)} is no capacity", "a number above 0; leave unknown ones out"
        )
    return number


def _within_limits(value: float, column: str, location: str) -> float:
    if not SMALLEST_CAPACITY <= value <= CAPACITY_LIMITS[column]:
        limits = f"{SMALLEST_CAPACITY} to {CAPACITY_LIMITS[column]:.4g}"
        raise InvalidInputError.at(location, f"{value:.4g} is no capacity in {column}", limits)
    return value


def _cruise_control(document: Any, location: str) -> Capacities:
    rows = document.get("brokerCapacities") if isinstance(document, dict) else None
    if not isinstance(rows, list) or not rows:
        raise InvalidInputError.at(f"{location}.brokerCapacities", "expected a list of brokers")
    capacities: dict[int, Capacity] = {}
    disks: dict[int, Mapping[str, float]] = {}
    for number, row in enumerate(rows):
        here = f"{location}.brokerCapacities[{number}]"
        if not isinstance(row, dict) or not isinstance(row.get("capacity"), dict):
            raise InvalidInputError.at(here, "expected brokerId and capacity")
        broker = _broker_id(row.get("brokerId"), f"{here}.brokerId")
        if broker in capacities:
            raise InvalidInputError.at(here, f"broker {broker} is listed twice")
        capacities[broker] = _cruise_control_row(row["capacity"], f"{here}.capacity")
        if isinstance(by_path := row["capacity"].get("DISK"), dict):
            disks[broker] = {
                path: _positive(value, f"{here}.capacity.DISK.{path}") * 2**20 for path, value in by_path.items()
            }
    of_broker = {key: value for key, value in capacities.items() if key != _DEFAULT}
    return Capacities(of_broker, capacities.get(_DEFAULT), disks)


def _broker_id(value: Any, location: str) -> int:
    text = str(value) if isinstance(value, (str, int)) and not isinstance(value, bool) else ""
    if text != str(_DEFAULT) and not (text.isascii() and text.isdigit() and len(text) < 10):
        raise InvalidInputError.at(location, f"expected a broker id, or -1 for the default, found {excerpt(value)}")
    return int(text)


def _cruise_control_row(row: dict[str, Any], location: str) -> Capacity:
    values: dict[str, float] = {}
    for name, value in row.items():
        if name not in _UNITS:
            raise InvalidInputError.at(location, f"unknown resource {excerpt(name)}", f"known: {', '.join(_UNITS)}")
        here, (column, unit) = f"{location}.{name}", _UNITS[name]
        if isinstance(value, dict) and name == "CPU" and list(value) == ["num.cores"]:
            _positive(value["num.cores"], here)
            values[column] = 100.0
        elif isinstance(value, dict) and name == "DISK" and value:
            values[column] = unit * sum(_positive(element, f"{here}.{path}") for path, element in value.items())
        else:
            values[column] = unit * _positive(value, here)
        _within_limits(values[column], column, here)
    return Capacity(**values)
