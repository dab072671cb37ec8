"""``clusters.toml``: which clusters the DAGs advise, and where each one is read from.

One table a cluster, with exactly one of three sources, and its capacities where somebody wrote them down::

    [clusters.orders]
    connection = "kafka_orders"  # an Airflow connection of type kafka

    [clusters.audit]
    folder = "dumps/audit"  # what Kafka's own tools printed
    capacity = "audit-capacity.csv"

    [clusters.planned]
    file = "planned.json.gz"  # a snapshot, a cluster model or a reassignment

Relative paths start at the folder of clusters.toml. ``ADVISOR_CLUSTERS_FILE`` says where it is.
"""

from __future__ import annotations

import os
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kafka_rebalance.errors import InvalidInputError, UnknownNameError
from rebalance_advisor.input_bytes import MAX_SETTINGS_BYTES, ByteBudget, read_text

SETTING = "ADVISOR_CLUSTERS_FILE"
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
_SOURCES = ("connection", "folder", "file")


@dataclass(frozen=True, slots=True)
class ClusterEntry:
    """One cluster: ``connection`` is an Airflow connection, ``path`` a file or folder; exactly one of them is there."""

    name: str
    connection: str | None = None
    path: Path | None = None
    capacity: Path | None = None


def clusters_file() -> Path:
    """Where the list is. Raises InvalidInputError when nobody said."""
    told = os.environ.get(SETTING)
    if not told:
        raise InvalidInputError.at(SETTING, "is not set", "let it name your clusters.toml")
    return Path(told)


def read_clusters(file: Path) -> dict[str, ClusterEntry]:
    """All clusters by name. Raises InvalidInputError with the file and the table that is wrong."""
    try:
        document = tomllib.loads(read_text(file, ByteBudget(MAX_SETTINGS_BYTES)))
    except ValueError as error:  # TOMLDecodeError, and a number of thousands of digits
        raise InvalidInputError.at(str(file), f"is no TOML: {error}") from error
    except RecursionError as error:
        raise InvalidInputError.at(str(file), "is nested too deeply to be a list of clusters") from error
    tables = document.get("clusters")
    if not isinstance(tables, dict) or not tables:
        raise InvalidInputError.at(str(file), "names no cluster", 'write [clusters.NAME] and connection = "…"')
    return {name: _entry(name, table, file) for name, table in sorted(tables.items())}


def choose(clusters: dict[str, ClusterEntry], wanted: str | None) -> list[str]:
    """The names to advise: the wanted one, or all. Raises UnknownNameError for one that is not in the list."""
    if not wanted:
        return sorted(clusters)
    if wanted not in clusters:
        raise UnknownNameError.among("cluster", wanted, clusters)
    return [wanted]


def _entry(name: str, table: Any, file: Path) -> ClusterEntry:
    place = f"{file}: [clusters.{name}]"
    if not _NAME.fullmatch(name):
        raise InvalidInputError.at(place, "is no name", "letters, digits, dot, dash and underline: it names folders")
    if not isinstance(table, dict):
        raise InvalidInputError.at(place, "is no table")
    unknown = sorted(set(table) - {*_SOURCES, "capacity"})
    if unknown:
        raise InvalidInputError.at(place, f"{unknown[0]!r} is not known", "known: capacity, " + ", ".join(_SOURCES))
    odd = sorted(key for key, value in table.items() if not isinstance(value, str) or not value)
    if odd:
        raise InvalidInputError.at(place, f"{odd[0]} is no text: {table[odd[0]]!r}")
    given = [key for key in _SOURCES if key in table]
    if len(given) != 1:
        raise InvalidInputError.at(place, f"has {' and '.join(given) or 'no source'}", "give exactly one of them")
    path = None if given == ["connection"] else file.parent / table[given[0]]
    capacity = file.parent / table["capacity"] if "capacity" in table else None
    return ClusterEntry(name, table.get("connection"), path, capacity)
