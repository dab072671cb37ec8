"""``clusters.toml``: one table for each cluster of the DAGs (docs/configuration.md).

A faulty table affects only its cluster. ``H`` in a schedule is a hash of the name (croniter's hashed expressions). DAG
files must parse quickly and without errors, so the form takes brokers from a small file that collecting writes.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from pydantic import AfterValidator, BeforeValidator, Field, Strict
from pydantic.dataclasses import dataclass as checked_dataclass

from kafka_assignors.errors import InvalidInputError, UnknownNameError
from kafka_assignors.visible_text import excerpt
from kafka_rebalance.options.values import CHECKED, Checked, FilledText, Hours, OneOf, Several, Value, nearest
from rebalance_advisor.airflow.publishing import publish_root
from rebalance_advisor.input_bytes import MAX_SETTINGS_BYTES, ByteBudget, read_text
from rebalance_advisor.request.run_request import OPTIONS

DEFAULT_SMTP = "smtp_default"
LATE_AFTER_HOURS = 26.0


def _address(text: str) -> str:
    # A line break would add mail headers.
    if text.count("@") != 1 or not text.isprintable() or " " in text:
        raise ValueError(f"{excerpt(text)} is no address")
    return text


_Addresses: TypeAlias = Annotated[tuple[Annotated[FilledText, AfterValidator(_address)], ...], Several()]


@checked_dataclass(frozen=True, config=CHECKED)
class NotifySettings(Checked):
    """Without addresses no messages are sent.

    mail, slack       get every finding, failed and late advisories
    teams             team (of ``owners``) -> recipients of its findings
    late_after_hours  age at which the newest advisory is late
    """

    mail: _Addresses = ()
    teams: Mapping[str, _Addresses] = field(default_factory=dict, hash=False)
    slack: FilledText | None = None
    smtp: FilledText = DEFAULT_SMTP
    late_after_hours: Hours = LATE_AFTER_HOURS


_HASHED = re.compile(r"(?<![A-Za-z])H(?![A-Za-z])")  # not in THU or MARCH


def own_moment(schedule: str, whose: str) -> str:
    fields = schedule.split()
    if not any(_HASHED.search(field) for field in fields):
        return schedule
    from croniter import croniter

    expanded, _ = croniter.expand(schedule, hash_id=whose.encode())
    return " ".join(
        ",".join(str(value) for value in values) if _HASHED.search(field) else field
        for field, values in zip(fields, expanded, strict=True)
    )


OFF = "off"
COLLECT_SCHEDULE, ADVISE_SCHEDULE = "H * * * *", "H 5 * * *"
MOST_RETRIES = 20
LONGEST_TAG = 100  # Airflow's limit
ACTIONS = ("can_read", "can_edit", "can_delete")


def _schedule(text: str) -> str:
    if text == OFF:
        return text
    from croniter import croniter

    try:
        croniter(own_moment(text, "")).get_next()  # 30 February
    except (ValueError, KeyError, AttributeError) as error:
        raise _no_schedule(text) from error
    if len(text.split()) not in (1, 5):  # a sixth field: seconds or years
        raise _no_schedule(text)
    return text


def _no_schedule(text: str) -> ValueError:
    return ValueError(f'{excerpt(text)} is no schedule: give cron in UTC, as "0 5 * * *" or "H 5 * * *", or "off"')


def _notify(value: Any) -> Any:
    if isinstance(value, NotifySettings):
        return value
    if not isinstance(value, Mapping):
        raise ValueError(f"{excerpt(value)} is no object")  # noqa: TRY004 (pydantic takes no TypeError)
    try:
        return NotifySettings(**value)
    except InvalidInputError as error:
        raise ValueError(str(error)) from error


_Schedule: TypeAlias = Annotated[FilledText, AfterValidator(_schedule)]
_Tag: TypeAlias = Annotated[
    FilledText, Field(max_length=LONGEST_TAG), Value("is no tag", f"give 1 to {LONGEST_TAG} characters")
]
_Actions: TypeAlias = Annotated[tuple[Annotated[str, OneOf(ACTIONS)], ...], Several()]


@checked_dataclass(frozen=True, config=CHECKED)
class DagSettings(Checked):
    """``schedule``: cron in UTC with ``H``, or "off". ``permissions`` None: Airflow's."""

    schedule: _Schedule = ADVISE_SCHEDULE
    collect_schedule: _Schedule = COLLECT_SCHEDULE
    owner: FilledText = "kafka-platform"
    tags: Annotated[tuple[_Tag, ...], Several()] = ()
    retries: Annotated[
        int, Strict(), Field(ge=0, le=MOST_RETRIES), Value("is no number of retries", f"give 0 to {MOST_RETRIES}")
    ] = 2
    permissions: Annotated[Mapping[FilledText, _Actions], Field(min_length=1)] | None = None
    notify: Annotated[NotifySettings, BeforeValidator(_notify)] = field(default_factory=NotifySettings)


KEYS = tuple(setting.name for setting in fields(DagSettings))


def read_dag_settings(table: Mapping[str, Any], location: str, cluster: str) -> DagSettings:
    try:
        settings = DagSettings(**{key: table[key] for key in KEYS if key in table})
    except InvalidInputError as error:
        raise InvalidInputError(f"{location} {error}") from error
    return replace(
        settings,
        schedule=own_moment(settings.schedule, f"advise {cluster}"),
        collect_schedule=own_moment(settings.collect_schedule, f"collect {cluster}"),
    )


SETTING = "ADVISOR_CLUSTERS_FILE"
NAME = re.compile(r"[a-z0-9_-]{1,60}")
_OPTIONS = {option.name: option for option in OPTIONS if option.name != "cluster"}


@checked_dataclass(frozen=True, kw_only=True, config=CHECKED)
class _Source(Checked):
    connection: FilledText | None = None
    folder: FilledText | None = None
    file: FilledText | None = None
    capacity: FilledText | None = None
    prometheus: FilledText | None = None
    metric_names: FilledText | None = None

    def __post_init__(self) -> None:
        given = [key for key in ("connection", "folder", "file") if getattr(self, key) is not None]
        if len(given) != 1:
            sources = " and ".join(given) or "no source"
            raise InvalidInputError(f"has {sources}; give exactly one of connection, folder, file")
        if self.metric_names is not None and self.prometheus is None:
            raise InvalidInputError('metric_names names metrics, and no server has them; add prometheus = "URL"')


_PLACES = tuple(part.name for part in fields(_Source))
_KEYS = (*_PLACES, *KEYS, *_OPTIONS)


@dataclass(frozen=True, slots=True)
class ClusterEntry:
    """``prometheus`` may hold a password, so it is not shown. ``options``: the form's defaults as JSON."""

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
        return f"connection {self.connection}" if self.path is None else str(self.path)


@dataclass(frozen=True, slots=True)
class ClusterConfig:
    entries: Mapping[str, ClusterEntry]
    refused: Mapping[str, InvalidInputError]

    def entry(self, name: str) -> ClusterEntry:
        if name in self.refused:
            raise self.refused[name]
        if name not in self.entries:
            raise UnknownNameError.among("cluster", name, self.entries)
        return self.entries[name]


def clusters_file() -> Path:
    path = os.environ.get(SETTING)
    if not path:
        raise InvalidInputError.at(SETTING, "is not set", "let it name your clusters.toml")
    return Path(path)


def read_clusters(file: Path) -> ClusterConfig:
    try:
        document = tomllib.loads(read_text(file, ByteBudget(MAX_SETTINGS_BYTES)))
    except ValueError as error:  # TOMLDecodeError, and numbers of thousands of digits
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
    location = f"{file}: [clusters.{name}]"
    if not NAME.fullmatch(name):
        raise InvalidInputError.at(location, "is no name", "a-z, 0-9, dash and underline, at most 60: it names DAGs")
    if not isinstance(table, dict):
        raise InvalidInputError.at(location, "is no table")
    if unknown := sorted(set(table) - set(_KEYS)):
        raise InvalidInputError.at(location, f"{excerpt(unknown[0])} is not known", nearest(unknown[0], _KEYS))
    sources = {key: table[key] for key in _PLACES if key in table}
    if isinstance(sources.get("capacity"), dict):  # the option, not a path
        del sources["capacity"]
    try:
        source = _Source(**sources)
    except InvalidInputError as error:
        raise InvalidInputError(f"{location} {error}") from error
    path = source.folder or source.file
    return ClusterEntry(
        name=name,
        connection=source.connection,
        path=None if path is None else file.parent / path,
        capacity=None if source.capacity is None else file.parent / source.capacity,
        prometheus=source.prometheus,
        metric_names=None if source.metric_names is None else file.parent / source.metric_names,
        options=_options({key: table[key] for key in table if key in _OPTIONS and key not in sources}, location),
        settings=read_dag_settings(table, location, name),
    )


def _options(table: Mapping[str, Any], location: str) -> dict[str, Any]:
    options = {}
    for name, value in table.items():
        option = _OPTIONS[name]
        try:
            options[name] = option.write(option.read(value))
        except InvalidInputError as error:
            raise InvalidInputError.at(f"{location} {name}", str(error)) from error
    return options


# One collection may fail or be late.
INTERVALS_PER_LIMIT = 2
_BEGIN = datetime(2026, 1, 5, tzinfo=UTC)  # any Monday
_LOOKED_AT = timedelta(days=15)
_MOST_TIMES = 10_000


def age_limit_s(settings: DagSettings) -> int:
    return INTERVALS_PER_LIMIT * int(longest_interval(settings.collect_schedule).total_seconds())


def longest_interval(schedule: str) -> timedelta:
    """Longest gap within 14 days or the next three times; the default schedule's for "off"."""
    from croniter import croniter

    times = croniter(own_moment(COLLECT_SCHEDULE if schedule == OFF else schedule, ""), _BEGIN)
    last, longest = times.get_next(datetime), timedelta()
    for number in range(_MOST_TIMES):
        following = times.get_next(datetime)
        longest, last = max(longest, following - last), following
        if last - _BEGIN > _LOOKED_AT and number >= INTERVALS_PER_LIMIT:
            break
    return longest


_MOST_BYTES = 2**20


def brokers_file(cluster: str) -> Path:
    """The name is free: cluster names hold no dot."""
    return publish_root() / f"{cluster}.brokers.json"


def remember_brokers(cluster: str, racks: Iterable[tuple[int, str | None]]) -> None:
    from rebalance_advisor.publish.folders import replace_file

    rows = tuple(sorted(racks, key=lambda broker: broker[0]))
    if rows == known_brokers(cluster):
        return
    file = brokers_file(cluster)
    file.parent.mkdir(parents=True, exist_ok=True)
    replace_file(file, json.dumps(rows).encode())


def known_brokers(cluster: str) -> tuple[tuple[int, str | None], ...]:
    """() if the file is missing or unreadable."""
    try:
        with brokers_file(cluster).open("rb") as stream:
            rows = json.loads(stream.read(_MOST_BYTES))
        return tuple((int(broker), None if rack is None else str(rack)) for broker, rack in rows)
    except (OSError, ValueError, TypeError, RecursionError):
        return ()
