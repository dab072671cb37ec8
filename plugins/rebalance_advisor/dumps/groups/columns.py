"""The columns that ``kafka-consumer-groups`` and ``kafka-share-groups`` print: which cell belongs to which name.

Java pads every column to the width of its longest cell, so a cell begins below its name: that reads client ids with
blanks and an empty GROUP-INSTANCE-ID right. Dumps that were copied by hand have lost their padding: there a row must
have exactly as many words as the header.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import combinations

from rebalance_advisor.dumps.files.dump_lines import Line

_COORDINATOR = re.compile(r"COORDINATOR\s+\(ID\)")
_COORDINATOR_CELL = re.compile(r"\s+(?=\(\d+\)(?:\s|$))")
_NAMES = frozenset((
    "GROUP", "TOPIC", "PARTITION", "LEADER-EPOCH", "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG", "CONSUMER-ID", "HOST",
    "CLIENT-ID", "GROUP-INSTANCE-ID", "#PARTITIONS", "ASSIGNMENT", "CURRENT-EPOCH", "CURRENT-ASSIGNMENT",
    "TARGET-EPOCH", "TARGET-ASSIGNMENT", "UPGRADED", "COORDINATOR (ID)", "ASSIGNMENT-STRATEGY", "STATE",
    "GROUP-EPOCH", "TARGET-ASSIGNMENT-EPOCH", "#MEMBERS", "TYPE", "PROTOCOL", "OWNER",
    "START-OFFSET", "MEMBER-EPOCH", "ASSIGNMENT-EPOCH",  # kafka-share-groups
    "MEMBER", "PROCESS", "ASSIGNMENTS", "TOPOLOGY-EPOCH", "MEMBER-PROTOCOL", "OFFSET-LAG", "ASSIGNOR",  # streams
))  # fmt: skip
_MAY_BE_EMPTY = frozenset((
    "GROUP-INSTANCE-ID", "TARGET-ASSIGNMENT", "UPGRADED", "ASSIGNMENTS",
    "ASSIGNOR",
    "ASSIGNMENT-STRATEGY", "PROTOCOL",  # Kafka 1.1 to 3.9 print them as they are: a group without one has a blank
))  # fmt: skip
# What a word must be to belong to a column: rows that lost their padding show by it which cell is blank.
_NUMBER = re.compile(r"-?\d+|-")
_FORMS = dict.fromkeys(
    ("PARTITION", "#PARTITIONS", "#MEMBERS", "GROUP-EPOCH", "CURRENT-EPOCH", "TARGET-EPOCH"), _NUMBER
) | {
    "STATE": re.compile(r"[A-Z][A-Za-z]+"),
    "TYPE": re.compile(r"[A-Z][a-z]+"),
    "UPGRADED": re.compile(r"true|false|-"),
    "HOST": re.compile(r"/\S*|-"),
    "COORDINATOR (ID)": re.compile(r".*\(\d+\)"),
}
_HOLDS_BLANKS = frozenset(
    ("GROUP", "CONSUMER-ID", "CLIENT-ID", "ASSIGNMENT", "ASSIGNMENTS", "COORDINATOR (ID)", "OWNER")
)
# Kafka 0.9 separates by commas, and its names have blanks.
_COMMAS = re.compile(r"\s*GROUP, TOPIC, PARTITION, CURRENT OFFSET, LOG END OFFSET, LAG, OWNER\s*$")
# Kafka 0.10.2 to 1.0 leaves no blank between a CONSUMER-ID of 50 characters or more and its HOST.
_GLUED = re.compile(r"(\S*-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[^/\s]+)(/[^/\s]+)")
# What ConsumerOffsetChecker, gone since Kafka 1.0, prints: its words for the same columns.
_CHECKER = re.compile(r"Group\s+Topic\s+Pid\s+Offset\s+logSize\s+Lag\s+Owner\s*$")
_CHECKER_NAMES = ("GROUP", "TOPIC", "PARTITION", "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG", "OWNER")


@dataclass(frozen=True, slots=True)
class Header:
    """The columns of one block, in order, with the place where each begins."""

    names: tuple[str, ...]
    starts: tuple[int, ...]
    has_commas: bool = False

    def cells(self, line: Line) -> dict[str, str]:
        """Name → cell of one row. Raises InvalidInputError for a row that does not fit the header."""
        cells = self._by_commas(line.text) if self.has_commas else self._by_place(line.text)
        if cells is None and not self.has_commas:
            cells = self._by_words(line.text)
        if cells is None:
            raise line.refuse(f"does not fit the columns {' '.join(self.names)}", "was the row cut or wrapped?")
        return dict(zip(self.names, cells, strict=True))

    def _by_commas(self, text: str) -> list[str] | None:
        cells = [cell.strip() for cell in text.split(", ")]
        return cells if len(cells) == len(self.names) and all(cells) else None

    def _by_place(self, text: str) -> list[str] | None:
        cells = []
        ends = (*self.starts[1:], max(len(text), self.starts[-1]))
        for name, start, end in zip(self.names, self.starts, ends, strict=True):
            cell = text[start:end]
            if cell and cell[0].isspace() and cell.strip():
                return None  # the cell begins elsewhere: nothing stands below its name
            if end < len(text) and not text[end - 1].isspace():
                return None  # a cell reaches into the next column
            cell = cell.strip()
            if not cell and name not in _MAY_BE_EMPTY:
                return None
            if name not in _HOLDS_BLANKS and len(cell.split()) > 1:
                return None
            cells.append(cell)
        return cells

    def _by_words(self, text: str) -> list[str] | None:
        words = re.split(r"[ \t]+", _COORDINATOR_CELL.sub("\N{NO-BREAK SPACE}", text).strip())
        last = len(self.names) - 1
        if self.names[last] in ("ASSIGNMENT", "ASSIGNMENTS") and len(words) > last:
            words[last:] = [" ".join(words[last:])]
        if len(words) == last and "CONSUMER-ID" in self.names:
            at = self.names.index("CONSUMER-ID")
            if self.names[at + 1 : at + 2] == ("HOST",) and (glued := _GLUED.fullmatch(words[at])):
                words[at : at + 1] = glued.groups()
        if len(words) < len(self.names):
            filled = self._fill(words)
            if filled is None:
                return None
            words = filled
        if len(words) != len(self.names):
            return None
        return [word.replace("\N{NO-BREAK SPACE}", " ") for word in words]

    def _fill(self, words: list[str]) -> list[str] | None:
        """Return the words with "" for each blank cell; ``None`` where no way or more than one way fits."""
        optional = [at for at, name in enumerate(self.names) if name in _MAY_BE_EMPTY]
        ways = []
        for blanks in combinations(optional, len(self.names) - len(words)):
            rest = iter(words)
            row = [
                "" if at in blanks else next(rest).replace("\N{NO-BREAK SPACE}", " ") for at in range(len(self.names))
            ]
            if all(
                at in blanks or name not in _FORMS or _FORMS[name].fullmatch(row[at])
                for at, name in enumerate(self.names)
            ):
                ways.append(row)
        return ways[0] if len(ways) == 1 else None


def read_header(text: str) -> Header | None:
    """The header in ``text``, ``None`` for any other line."""
    if _COMMAS.match(text):
        return Header(_CHECKER_NAMES, (), has_commas=True)
    if _CHECKER.match(text.strip()):
        return Header(_CHECKER_NAMES, tuple(match.start() for match in re.finditer(r"\S+", text)))
    names: list[str] = []
    starts: list[int] = []
    for match in re.finditer(rf"{_COORDINATOR.pattern}|\S+", text):
        name = "COORDINATOR (ID)" if _COORDINATOR.fullmatch(match[0]) else match[0]
        name = "#PARTITIONS" if name == "PARTITIONS" else name
        if name not in _NAMES:
            return None
        names.append(name)
        starts.append(match.start())
    if len(names) < 2 or len(set(names)) != len(names):
        return None
    return Header(tuple(names), tuple(starts))
