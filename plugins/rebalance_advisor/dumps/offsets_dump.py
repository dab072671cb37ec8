"""What ``kafka-get-offsets`` prints, ``topic:partition:offset`` a line → start and end offsets.

The tool prints the same for ``--time earliest`` and ``latest``. One dump holds end offsets; of two, that one whose
offsets are nowhere greater holds the start offsets.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from kafka_rebalance.errors import InvalidInputError
from kafka_rebalance.model import CoverageGap
from rebalance_advisor.dumps.dump_lines import LARGEST_LONG, dump_lines, whole_number

Offsets = dict[tuple[str, int], int]

_ROW = re.compile(r"(?P<topic>[\w.-]+):(?P<partition>\d+):(?P<offset>\d+)\s*$")
_SKIPPED = re.compile(r"Skip getting offsets for topic-partition (?P<partition>\S+) due to error: (?P<error>.*)$")


@dataclass(slots=True)
class OffsetsDump:
    """One or two dumps, in the order read."""

    readings: list[tuple[str, Offsets]] = field(default_factory=list)
    gaps: list[CoverageGap] = field(default_factory=list)

    def read(self, text: str, place: str) -> None:
        """Add what one file holds. Raises InvalidInputError with file, line and reason."""
        offsets: Offsets = {}
        for line in dump_lines(text, place):
            if not line.text.strip():
                continue
            if skipped := _SKIPPED.match(line.text):
                self.gaps.append(CoverageGap("partition", skipped["partition"], "offsets", skipped["error"]))
                continue
            row = _ROW.match(line.text)
            if row is None:
                raise line.refuse(f"expected topic:partition:offset, found {line.text[:80]!r}")
            key = (row["topic"], whole_number(row["partition"], line, "a partition"))
            if key in offsets:
                raise line.refuse(f"{key[0]}-{key[1]} is listed twice")
            offsets[key] = whole_number(row["offset"], line, "an offset", LARGEST_LONG)
        self.readings.append((place, offsets))

    def start_and_end(self) -> tuple[Offsets, Offsets]:
        """Start offsets (empty if there is one dump) and end offsets (empty if there is none).

        Raises InvalidInputError for a third dump, or two of which neither is below the other everywhere.
        """
        if not self.readings:
            return {}, {}
        if len(self.readings) == 1:
            return {}, self.readings[0][1]
        if len(self.readings) > 2:
            raise InvalidInputError.at(self.readings[2][0], "is the third dump of offsets", "give earliest and latest")
        (first_place, first), (place, second) = self.readings
        common = first.keys() & second.keys()
        if all(first[each] <= second[each] for each in common):
            return first, second
        if all(first[each] >= second[each] for each in common):
            return second, first
        raise InvalidInputError.at(
            place, f"is neither above nor below {first_place} everywhere", "give one dump of earliest and one of latest"
        )


def looks_like_offsets(text: str) -> bool:
    """The first line that says something is a row, or a partition that was skipped."""
    first = next((line for line in text.split("\n") if line.strip()), "")
    return bool(_ROW.match(first.rstrip("\r")) or _SKIPPED.match(first))
