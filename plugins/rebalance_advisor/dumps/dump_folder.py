"""A folder of dumps of Kafka's own tools → snapshot. Each file is known by its content, whatever its name.

Needed is ``kafka-topics --describe`` (or the topics' znodes, from ZooKeeper); of use are ``kafka-log-dirs --describe``,
``kafka-get-offsets`` (earliest and latest),
``kafka-consumer-groups --describe --all-groups`` (alone, with ``--members --verbose``, with ``--state``),
``brokers.csv``, lists of living brokers (``kafka-broker-api-versions``, ``kafka-cluster list-endpoints``, ZooKeeper's
``/brokers/ids``), a capacity file, and ``captured_at`` with the ISO time of the reading. What is missing is a gap.

A folder whose sub-folders are such folders holds several readings: the newest is the snapshot, and rates are measured
from the one before it. Files beside the sub-folders belong to all of them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from datetime import datetime
from operator import itemgetter
from pathlib import Path

from kafka_assignors.errors import InvalidInputError
from kafka_assignors.visible_text import visible
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.snapshot.model import ClusterSnapshot
from kafka_rebalance.snapshot.rates import measure_rates
from kafka_rebalance.snapshot.times import parse_time
from rebalance_advisor.dumps.broker_lists import looks_like_brokers, looks_like_listing, read_brokers
from rebalance_advisor.dumps.capacity_file import Capacities, looks_like_capacity, parse_capacity, with_capacity
from rebalance_advisor.dumps.dump_snapshot import DumpParts, snapshot_of_parts
from rebalance_advisor.dumps.groups_dump import looks_like_groups
from rebalance_advisor.dumps.log_dirs_dump import looks_like_log_dirs
from rebalance_advisor.dumps.offsets_dump import looks_like_offsets
from rebalance_advisor.dumps.text_lines import as_printed
from rebalance_advisor.dumps.topic_znodes import looks_like_znodes
from rebalance_advisor.dumps.topics_dump import looks_like_topics
from rebalance_advisor.input_bytes import ByteBudget, PartOfInputError, folder_entries, read_bytes, read_text

_KNOWN = (
    "kafka-topics, znodes of topics and brokers, kafka-consumer-groups, kafka-log-dirs, kafka-get-offsets, "
    "kafka-broker-api-versions, kafka-cluster list-endpoints, brokers.csv, a capacity file, captured_at"
)
_LONGEST_TIME = 40


def read_folder(
    folder: Path, cluster: str, budget: ByteBudget | None = None, *, is_strict: bool = False
) -> ClusterSnapshot:
    """The newest reading in ``folder``, with rates if there is one before it.

    A file that is none of the known dumps, or is broken, is left out whole and named as a gap if the rest suffices.
    Raises InvalidInputError for such a file if the rest does not suffice, if a plan rests on it (replicas, brokers,
    capacities, time), or with ``is_strict``; and for files that contradict each other.
    """
    budget = ByteBudget() if budget is None else budget
    beside, readings = folder_entries(folder, keeps_odd=True)
    if not readings:
        return _read_reading(folder, beside, cluster, budget, is_strict=is_strict)
    snapshots = [
        _read_reading(
            subfolder, beside + folder_entries(subfolder, keeps_odd=True)[0], cluster, budget, is_strict=is_strict
        )
        for subfolder in readings
    ]
    by_time: list[tuple[datetime, ClusterSnapshot]] = []
    for reading, snapshot in zip(readings, snapshots, strict=True):
        if snapshot.captured_at is None:
            hint = f"rates need the time of each part of {folder}"
            raise InvalidInputError.at(str(reading), "has no captured_at", hint)
        by_time.append((snapshot.captured_at, snapshot))
    newest = [snapshot for _, snapshot in sorted(by_time, key=itemgetter(0))[-2:]]
    if len(newest) == 1:
        return newest[0]
    measured = measure_rates(*newest)
    older = (
        gap for gap in newest[0].coverage if gap.reason.code is FactCode.FILE_LEFT_OUT and gap not in measured.coverage
    )
    return replace(measured, coverage=(*measured.coverage, *older))


def read_group_table(text: str, place: str, cluster: str) -> ClusterSnapshot:
    """Return the snapshot of one kafka-consumer-groups dump: its brokers are unknown."""
    parts = _Sorter(DumpParts(cluster, place))
    parts.add(text, place)
    return snapshot_of_parts(parts.parts)


def _read_reading(
    folder: Path, files: list[Path], cluster: str, budget: ByteBudget, *, is_strict: bool
) -> ClusterSnapshot:
    parts, used = _Sorter(DumpParts(cluster, str(folder))), budget.used
    left_out: dict[Path, InvalidInputError] = {}
    try:
        parts.add_files(files, budget)
    except PartOfInputError:
        raise
    except InvalidInputError:
        left_out = {} if is_strict else _unreadable_files(files, ByteBudget(budget.limit, used))
        if not left_out:
            raise
        parts = _Sorter(DumpParts(cluster, str(folder)))  # what a broken file added first is gone with it
        parts.add_files([path for path in files if path not in left_out], ByteBudget(budget.limit, used))
        if not parts.parts.is_sufficient:
            raise next(iter(left_out.values())) from None
    for path, error in left_out.items():
        name = visible(path.name)
        line, text = _line_and_text(error, path)
        reason = fact(FactCode.FILE_LEFT_OUT, file=name, line=line, text=text)
        parts.parts.miss(fact(FactCode.LACKS_FILE, file=name), reason)
    snapshot = snapshot_of_parts(parts.parts)
    return snapshot if parts.capacities is None else with_capacity(snapshot, parts.capacities)


def _unreadable_files(files: list[Path], budget: ByteBudget) -> dict[Path, InvalidInputError]:
    """Return the files that cannot be read even alone. A file that only contradicts another one is none of them.

    Raises InvalidInputError for a broken file that a plan rests on: it would be made without its replicas, racks or
    limits.
    """
    result: dict[Path, InvalidInputError] = {}
    for path in files:
        used = budget.used
        try:
            _Sorter(DumpParts("", "")).add_files([path], budget)
        except PartOfInputError:
            raise
        except InvalidInputError as error:
            if _is_base_of_plans(_readable_part(path, ByteBudget(budget.limit, used))):
                raise
            result[path] = error
    return result


def _readable_part(path: Path, budget: ByteBudget) -> str:
    """Return the text of a file that may be no text at all."""
    try:
        return read_bytes(path, budget).decode("utf-8", "ignore").replace("\0", "")
    except InvalidInputError:
        return ""


def _is_base_of_plans(text: str) -> bool:
    if re.search(r"Topic:.*(?:Partition|Replica)", text):
        return True  # broken rows of kafka-topics, too
    looks = (looks_like_capacity, looks_like_brokers, looks_like_znodes, looks_like_listing)
    is_time = len(text) <= _LONGEST_TIME and _looks_like_time(text)
    return not looks_like_log_dirs(text) and (is_time or any(look(text) for look in looks))


def _line_and_text(error: InvalidInputError, path: Path) -> tuple[int | None, str]:
    """Return the line that is wrong, where the error names one, and what is wrong there."""
    if not error.place.startswith(str(path)):
        return None, str(error)
    line = error.place.removeprefix(str(path)).removeprefix(":")
    words = error.problem + (f"; {error.hint}" if error.hint else "")
    if line.isascii() and line.isdigit():
        return int(line), visible(words)
    return None, visible(f"{line}: {words}" if line else words)


@dataclass(slots=True)
class _Sorter:
    """Gives each file to the reader that its content asks for."""

    parts: DumpParts
    capacities: Capacities | None = None
    _seen: dict[str, str] = field(default_factory=dict)

    def add_files(self, files: list[Path], budget: ByteBudget) -> None:
        """Read each file and add it."""
        for path in files:
            self.add(as_printed(read_text(path, budget)), str(path))

    def add(self, text: str, place: str) -> None:
        if not text.strip():
            name = Path(place).name
            self.parts.miss(fact(FactCode.LACKS_FILE, file=name), fact(FactCode.FILE_EMPTY, file=name))
        elif looks_like_log_dirs(text):
            self.parts.log_dirs.read(text, place)
        elif looks_like_capacity(text):
            self._once("a capacity file", place)
            self.capacities = parse_capacity(text, place)
        elif looks_like_brokers(text):
            self._once("brokers.csv", place)
            self.parts.given = read_brokers(text, place)
        elif len(text) <= _LONGEST_TIME and _looks_like_time(text):
            self._once("captured_at", place)
            self.parts.captured_at = _time(text.strip(), f"{place}:1")
        elif looks_like_znodes(text):
            self.parts.znodes.read(text, place)
        else:
            self._add_table(text, place)

    def _add_table(self, text: str, place: str) -> None:
        """Dumps of many lines. Tools end the last one; where its end is missing, it may have been cut."""
        if looks_like_listing(text):
            self.parts.znodes.brokers.read(text, place)
        elif looks_like_topics(text):
            self.parts.topics.read(text, place)
        elif looks_like_groups(text):
            self.parts.groups.read(text, place)
        elif looks_like_offsets(text):
            self.parts.offsets.read(text, place)
        else:
            raise InvalidInputError.at(f"{place}:1", "is no known dump", f"known: {_KNOWN}; leave other files out")
        if not text.endswith("\n"):
            name = Path(place).name
            self.parts.miss(fact(FactCode.LACKS_LAST_LINE, file=name), fact(FactCode.FILE_CUT, file=name))

    def _once(self, what: str, place: str) -> None:
        if what in self._seen:
            raise InvalidInputError.at(place, f"is the second one: {what} is already {self._seen[what]}")
        self._seen[what] = place


def _time(text: str, place: str) -> datetime:
    """The time of a reading. What is none is not quoted: anybody's file may begin with four digits, a card's too."""
    try:
        parse_time(text, place)
    except InvalidInputError:
        hint = "write 2026-01-31T06:00:00Z, or leave the file out"
        raise InvalidInputError.at(place, "what begins like a time is no ISO 8601 time", hint) from None
    return parse_time(text, place, needs_zone=True)


def _looks_like_time(text: str) -> bool:
    return re.match(r"\s*\d{4}(-|\d{4}[T ])", text, re.ASCII) is not None
