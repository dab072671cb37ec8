"""Read ``kafka-get-offsets`` (``topic:partition:offset``) as start or end offsets.

The command above decides (default: latest), else the file's name (``earliest.txt``). Of two dumps, the one that is
nowhere greater has the start offsets. A single dump is compared with others, else left out with a gap: start offsets
must never serve as end offsets.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import PurePosixPath

from kafka_assignors.errors import InvalidInputError
from kafka_assignors.visible_text import excerpt
from kafka_rebalance.facts import Fact, FactCode, fact
from kafka_rebalance.snapshot.model import CoverageGap
from rebalance_advisor.dumps.text_lines import (
    LARGEST_LONG,
    Command,
    Line,
    first_printed_line,
    lines_and_commands,
    whole_number,
)


class Role(StrEnum):
    START = "start"
    END = "end"
    OTHER = "other"  # at a time, or of another tier
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class ToldRole:
    role: Role
    by_command: bool = False


_TIMES = {"-1": Role.END, "latest": Role.END, "-2": Role.START, "earliest": Role.START}
_TOOLS = ("kafka-get-offsets", "kafka-get-offsets.sh", "kafka-get-offsets.bat", "GetOffsetShell")
_WORDS = {
    Role.START: frozenset(("earliest", "start", "starts", "beginning", "begin", "oldest")),
    Role.END: frozenset(("latest", "end", "ends", "newest", "high", "hw", "watermark", "watermarks")),
}


def role_of_command(command: Command) -> ToldRole | None:
    if not command.runs(*_TOOLS):
        return None
    times = command.options("time")
    if not times:
        return None if command.has("time") else ToldRole(Role.END, by_command=True)
    return ToldRole(_TIMES.get(times[-1].lower(), Role.OTHER), by_command=True)


def role_of_name(place: str) -> ToldRole:
    words = set(re.split(r"[^a-z]+", PurePosixPath(place).name.lower()))
    roles = [role for role, known in _WORDS.items() if words & known]
    return ToldRole(roles[0]) if len(roles) == 1 else ToldRole(Role.UNKNOWN)


Offsets = dict[tuple[str, int], int]

_ROW = re.compile(r"(?P<topic>[\w.-]+):(?P<partition>\d+):(?P<offset>\d+)\s*$")
_SKIPPED = re.compile(r"Skip getting offsets for topic-partition (?P<partition>\S+) due to error: (?P<error>.*)$")


@dataclass(frozen=True, slots=True)
class OffsetsReading:
    place: str
    told: ToldRole
    offsets: Offsets

    @property
    def name(self) -> str:
        return PurePosixPath(self.place).name


@dataclass(frozen=True, slots=True)
class SeenElsewhere:
    end_offsets: Mapping[tuple[str, int], int] = field(default_factory=dict)
    holding_bytes: frozenset[tuple[str, int]] = frozenset()


@dataclass(slots=True)
class OffsetsDump:
    readings: list[OffsetsReading] = field(default_factory=list)
    gaps: list[CoverageGap] = field(default_factory=list)

    def read(self, text: str, place: str) -> None:
        told: ToldRole | None = None
        offsets: Offsets = {}
        for line in lines_and_commands(text, place):
            if isinstance(line, Line):
                self._read_line(line, offsets)
            elif command_role := role_of_command(line):
                if offsets:
                    self.readings.append(OffsetsReading(place, told or role_of_name(place), offsets))
                    offsets = {}
                told = command_role
        if offsets or told is None:
            self.readings.append(OffsetsReading(place, told or role_of_name(place), offsets))

    def _read_line(self, line: Line, offsets: Offsets) -> None:
        if not line.text.strip():
            return
        if skipped := _SKIPPED.match(line.text):
            what, reason = fact(FactCode.LACKS_OFFSETS), fact(FactCode.AS_REPORTED, text=skipped["error"])
            self.gaps.append(CoverageGap("partition", skipped["partition"], what, reason))
            return
        row = _ROW.match(line.text)
        if row is None:
            raise line.refuse(f"expected topic:partition:offset, found {excerpt(line.text)}")
        key = (row["topic"], whole_number(row["partition"], line, "a partition"))
        if key in offsets:
            raise line.refuse(f"{key[0]}-{key[1]} is listed twice")
        offsets[key] = whole_number(row["offset"], line, "an offset", LARGEST_LONG)

    def start_and_end(
        self, cluster: str = "", seen: Callable[[], SeenElsewhere] | None = None
    ) -> tuple[Offsets, Offsets]:
        """An undecided dump is empty with a gap. Raises InvalidInputError for a third dump."""
        readings = [self._without_other(reading, cluster) for reading in self.readings]
        known = [reading for reading in readings if reading is not None]
        if len(known) > 2:
            raise InvalidInputError.at(known[2].place, "is the third dump of offsets", "give earliest and latest")
        if len(known) == 2:
            return self._pair(known[0], known[1], cluster)
        return self._single(known[0], cluster, seen or SeenElsewhere) if known else ({}, {})

    def _without_other(self, reading: OffsetsReading, cluster: str) -> OffsetsReading | None:
        if reading.told.role is not Role.OTHER:
            return reading
        self._miss(cluster, FactCode.LACKS_OFFSETS, fact(FactCode.OFFSETS_OF_OTHER_TIME, file=reading.name))
        return None

    def _single(
        self, reading: OffsetsReading, cluster: str, seen: Callable[[], SeenElsewhere]
    ) -> tuple[Offsets, Offsets]:
        role = reading.told.role
        if role is Role.UNKNOWN:
            role = _role_by_contents(reading.offsets, seen())
            if role is not Role.END:
                is_guessed = role is Role.START
                code = FactCode.OFFSETS_KIND_GUESSED if is_guessed else FactCode.OFFSETS_KIND_UNKNOWN
                self._miss(cluster, FactCode.LACKS_KIND_OF_OFFSETS, fact(code, file=reading.name))
        return {Role.START: (reading.offsets, {}), Role.END: ({}, reading.offsets)}.get(role, ({}, {}))

    def _pair(self, first: OffsetsReading, second: OffsetsReading, cluster: str) -> tuple[Offsets, Offsets]:
        """Start ≤ end everywhere: a greater offset decides, else the given role."""
        common = first.offsets.keys() & second.offsets.keys()
        may_be_start = all(first.offsets[key] <= second.offsets[key] for key in common)
        may_be_end = all(first.offsets[key] >= second.offsets[key] for key in common)
        if not (may_be_start or may_be_end):
            raise InvalidInputError.at(
                second.place,
                f"is neither above nor below {first.place} everywhere",
                "give one dump of earliest and one of latest",
            )
        if first.told.role is second.told.role is not Role.UNKNOWN:
            raise InvalidInputError.at(
                second.place, f"holds {first.told.role} offsets, as {first.place} does", "give earliest and latest"
            )
        if may_be_start and may_be_end:  # equal or disjoint
            if first.told.role is second.told.role:
                same = bool(common) and first.offsets == second.offsets
                return (first.offsets, second.offsets) if same else self._undecided(first, second, cluster)
            is_start = first.told.role is Role.START or second.told.role is Role.END
            return (first.offsets, second.offsets) if is_start else (second.offsets, first.offsets)
        start, end = (first, second) if may_be_start else (second, first)
        for reading, role in ((start, Role.START), (end, Role.END)):
            if reading.told.role not in (role, Role.UNKNOWN):
                self._contradicts(reading, role, cluster)
        return start.offsets, end.offsets

    def _contradicts(self, reading: OffsetsReading, role: Role, cluster: str) -> None:
        """Raises InvalidInputError for a command, which is never wrong; a wrong file name is a gap."""
        if reading.told.by_command:
            raise InvalidInputError.at(
                reading.place, f"was asked for {reading.told.role} offsets, but the other dump shows it holds none",
                "dump both again, one after the other",
            )  # fmt: skip
        reason = fact(FactCode.OFFSETS_MISNAMED, file=reading.name, kind=role.value)
        self._miss(cluster, FactCode.LACKS_KIND_OF_OFFSETS, reason)

    def _undecided(self, first: OffsetsReading, second: OffsetsReading, cluster: str) -> tuple[Offsets, Offsets]:
        reason = fact(FactCode.OFFSETS_UNDECIDED, files=(first.name, second.name))
        self._miss(cluster, FactCode.LACKS_KIND_OF_OFFSETS, reason)
        return {}, {}

    def _miss(self, cluster: str, what: FactCode, reason: Fact) -> None:
        self.gaps.append(CoverageGap("cluster", cluster, fact(what), reason))


def _role_by_contents(offsets: Offsets, seen: SeenElsewhere) -> Role:
    """By majority: a partition with bytes has an end offset above 0, and its start is below its end."""
    start = sum(1 for key, offset in offsets.items() if offset == 0 and key in seen.holding_bytes)
    same = (key for key, offset in offsets.items() if offset and offset == seen.end_offsets.get(key))
    end = sum(1 for key in same if key in seen.holding_bytes)
    if start == end:
        return Role.UNKNOWN
    return Role.START if start > end else Role.END


def looks_like_offsets(text: str) -> bool:
    first = first_printed_line(text)
    return bool(_ROW.match(first) or _SKIPPED.match(first))
