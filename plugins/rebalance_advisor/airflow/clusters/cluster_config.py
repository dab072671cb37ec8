"""``clusters.toml``: which clusters the DAGs advise, where each one is read from, and what it wants of its DAGs.

One table a cluster, with exactly one of three sources; all else has a default. Every option of a run
(docs/options.md) may stand there: it is then the default of the cluster's form, its schedule and its REST call::

    [clusters.orders]
    connection = "kafka_orders"   # an Airflow connection of type kafka
    schedule = "0 4 * * *"        # of advice, in UTC; collect_schedule: of readings; "off": by hand alone
    owner = "team-orders"
    tags = ["prod"]
    retries = 3
    prometheus = "http://prometheus:9090"  # loads; secrets in the token file that metric_names = "FILE" tells
    throttle = "100MB"            # an option, as are balance_within, include_topic, exclude_topic, age_limit …
    permissions = { orders = ["can_read", "can_edit"] }

    [clusters.audit]
    folder = "dumps/audit"        # what Kafka's own tools printed
    capacity = "audit-capacity.csv"

    [clusters.planned]
    file = "planned.json.gz"      # a snapshot, a cluster model or a reassignment

Relative paths start at the folder of clusters.toml. ``ADVISOR_CLUSTERS_FILE`` says where it is. A table that is wrong
is refused with its place, and takes no other cluster with it.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from pydantic.dataclasses import dataclass as checked_dataclass

from kafka_rebalance.errors import InvalidInputError, UnknownNameError
from kafka_rebalance.options.option import Checked
from kafka_rebalance.options.values import CHECKED, FilledText, nearest
from kafka_rebalance.visible_text import excerpt
from rebalance_advisor.airflow.clusters.dag_settings import KEYS as SETTINGS
from rebalance_advisor.airflow.clusters.dag_settings import DagSettings, read_dag_settings
from rebalance_advisor.input_bytes import MAX_SETTINGS_BYTES, ByteBudget, read_text
from rebalance_advisor.request.run_request import OPTIONS

SETTING = "ADVISOR_CLUSTERS_FILE"
NAME = re.compile(r"[a-z0-9_-]{1,60}")
_OPTIONS = {option.name: option for option in OPTIONS if option.name != "cluster"}


@checked_dataclass(frozen=True, kw_only=True, config=CHECKED)
class _Source(Checked):
    """Where a cluster's table says that it is read from, as texts."""

    connection: FilledText | None = None
    folder: FilledText | None = None
    file: FilledText | None = None
    capacity: FilledText | None = None
    prometheus: FilledText | None = None
    metric_names: FilledText | None = None

    def __post_init__(self) -> None:
        """Raises InvalidInputError for none and for more than one, and for names of metrics without a server."""
        given = [key for key in ("connection", "folder", "file") if getattr(self, key) is not None]
        if len(given) != 1:
            words = " and ".join(given) or "no source"
            raise InvalidInputError(f"has {words}; give exactly one of connection, folder, file")
        if self.metric_names is not None and self.prometheus is None:
            raise InvalidInputError('metric_names names metrics, and no server has them; add prometheus = "URL"')


_PLACES = tuple(part.name for part in fields(_Source))
_KEYS = (*_PLACES, *SETTINGS, *_OPTIONS)


@dataclass(frozen=True, slots=True)
class ClusterEntry:
    """One cluster: ``connection`` is an Airflow connection, ``path`` a file or folder; exactly one of them is there.

    capacity      a file
    prometheus    the address of a server that knows its loads; it may hold a password, so it is not shown
    metric_names  a file: what metrics and labels are called there
    options       of a run, by name, as JSON: the defaults of its form
    """

    name: str
    connection: str | None = None
    path: Path | None = None
    capacity: Path | None = None
    prometheus: str | None = field(default=None, repr=False)
    metric_names: Path | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    settings: DagSettings = field(default_factory=DagSettings)

    @property
    def source(self) -> str:
        """Where it is read from, in words."""
        return f"connection {self.connection}" if self.path is None else str(self.path)


@dataclass(frozen=True, slots=True)
class ClusterConfig:
    """The list: the clusters that can be read, and why the others cannot, by name."""

    entries: Mapping[str, ClusterEntry]
    refused: Mapping[str, InvalidInputError]

    def entry(self, name: str) -> ClusterEntry:
        """The entry of a cluster. Raises what is wrong with its own table, UnknownNameError where there is none."""
        if name in self.refused:
            raise self.refused[name]
        if name not in self.entries:
            raise UnknownNameError.among("cluster", name, self.entries)
        return self.entries[name]


def clusters_file() -> Path:
    """Where the list is. Raises InvalidInputError when nobody said."""
    told = os.environ.get(SETTING)
    if not told:
        raise InvalidInputError.at(SETTING, "is not set", "let it name your clusters.toml")
    return Path(told)


def read_clusters(file: Path) -> ClusterConfig:
    """All clusters by name. Raises InvalidInputError where the file as a whole cannot be read or lists nothing."""
    try:
        document = tomllib.loads(read_text(file, ByteBudget(MAX_SETTINGS_BYTES)))
    except ValueError as error:  # TOMLDecodeError, and a number of thousands of digits
        raise InvalidInputError.at(str(file), f"is no TOML: {error}") from error
    except RecursionError as error:
        raise InvalidInputError.at(str(file), "is nested too deeply to be a list of clusters") from error
    tables = document.get("clusters")
    if not isinstance(tables, dict) or not tables:
        raise InvalidInputError.at(str(file), "names no cluster", 'write [clusters.NAME] and connection = "…"')
    entries: dict[str, ClusterEntry] = {}
    refused = {
        key: InvalidInputError.at(f"{file}: {excerpt(key)}", "is not known", "every table is a [clusters.NAME]")
        for key in document
        if key != "clusters"
    }
    for name, table in sorted(tables.items()):
        try:
            entries[name] = _entry(name, table, file)
        except InvalidInputError as error:
            refused[name] = error
    return ClusterConfig(entries, refused)


def _entry(name: str, table: Any, file: Path) -> ClusterEntry:
    place = f"{file}: [clusters.{name}]"
    if not NAME.fullmatch(name):
        raise InvalidInputError.at(place, "is no name", "a-z, 0-9, dash and underline, at most 60: it names DAGs")
    if not isinstance(table, dict):
        raise InvalidInputError.at(place, "is no table")
    if unknown := sorted(set(table) - set(_KEYS)):
        raise InvalidInputError.at(place, f"{excerpt(unknown[0])} is not known", nearest(unknown[0], _KEYS))
    places = {key: table[key] for key in _PLACES if key in table}
    if isinstance(places.get("capacity"), dict):  # no path, but the option
        del places["capacity"]
    try:
        source = _Source(**places)
    except InvalidInputError as error:
        raise InvalidInputError(f"{place} {error}") from error
    path = source.folder or source.file
    return ClusterEntry(
        name=name,
        connection=source.connection,
        path=None if path is None else file.parent / path,
        capacity=None if source.capacity is None else file.parent / source.capacity,
        prometheus=source.prometheus,
        metric_names=None if source.metric_names is None else file.parent / source.metric_names,
        options=_options({key: table[key] for key in table if key in _OPTIONS and key not in places}, place),
        settings=read_dag_settings(table, place, name),
    )


def _options(table: Mapping[str, Any], place: str) -> dict[str, Any]:
    """The options of a run that stand in the table, as JSON, each in the form that a request's document has."""
    options = {}
    for name, value in table.items():
        option = _OPTIONS[name]
        try:
            options[name] = option.write(option.read(value))
        except InvalidInputError as error:
            raise InvalidInputError.at(f"{place} {name}", str(error)) from error
    return options
