"""Which group a table without GROUP column is about: before Kafka 2.4 the tool described one group at a time.

Known from the command above the table (``--group billing``), or by the sentence that the tool prints above it
(``Consumer group 'billing' has no active members.``), for the one table that follows; else by the file's name, for one
table of each kind (``billing.txt``, ``members-billing.txt``): then it is a guess, and reported as a gap.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import PurePosixPath

from rebalance_advisor.dumps.files.dump_lines import Line
from rebalance_advisor.dumps.files.terminal_lines import Command

_HINT = (
    "dump with --all-groups (Kafka 2.4 or later), keep the command above the table, or name the file after the group"
)
_ENDINGS = frozenset((".gz", ".txt", ".log", ".out", ".dump", ".dat", ".lst", ".text"))
# Names that people give to any dump of groups: no group is meant.
_NO_GROUP = re.compile(
    r"(?:kafka[-_.]?)?(?:consumer[-_.]?)?(?:groups?|members?|states?|offsets?|lags?|describe|dump|output|out|\d*)"
    r"(?:[-_.]?(?:describe|members?|verbose|states?|offsets?|lags?|dump|output|\d+))*(?:\.sh)?",
    re.IGNORECASE,
)


class Kind(StrEnum):
    """What a table holds; the word that a file's name may end in."""

    OFFSETS = "offsets"
    MEMBERS = "members"
    STATE = "state"
    LIST = "list"


@dataclass(slots=True)
class GroupOfTable:
    """Goes along with the lines of one file."""

    place: str
    _told: tuple[str, ...] = ()  # by the command or sentence above
    _named_by_file: set[Kind] = field(default_factory=set)

    def hear_command(self, command: Command) -> None:
        """A command of the tool tells its group; any other command ends what was told."""
        self._told = command.options("group")

    def hear_sentence(self, group: str) -> None:
        """The tool named the group whose table follows."""
        self._told = (group,)

    def forget(self) -> None:
        """A table has begun: what was told above it does not hold for the next one."""
        self._told = ()

    def name(self, kind: Kind, line: Line) -> tuple[str, bool]:
        """The group of a table of ``kind`` whose header is ``line``, and whether that is only the file's name.

        Raises InvalidInputError where nothing tells it.
        """
        told = self._told
        if len(told) == 1:
            return told[0], False
        if told:
            raise line.refuse(f"has no GROUP column, and the command names {len(told)} groups", _HINT)
        guess = _group_in_name(self.place, kind)
        if guess is None:
            raise line.refuse("has no GROUP column, and neither a command nor the file's name tells the group", _HINT)
        if kind in self._named_by_file:
            raise line.refuse(f"has no GROUP column and is the second table of {kind} in this file", _HINT)
        self._named_by_file.add(kind)
        return guess, True


def _group_in_name(place: str, kind: Kind) -> str | None:
    """The file's name without endings, and without the kind of table at its end."""
    name = PurePosixPath(place).name
    while PurePosixPath(name).suffix.lower() in _ENDINGS:
        name = name[: -len(PurePosixPath(name).suffix)]
    if _NO_GROUP.fullmatch(name):
        return None
    word = kind.value.rstrip("s") + "s?"
    name = re.sub(rf"^(?:kafka[-_.])?consumer[-_.]groups?[-_.](?=.)|^{word}[-_.](?=.)", "", name, flags=re.IGNORECASE)
    name = re.sub(rf"[-_.]{word}(?:[-_.]verbose)?$", "", name, flags=re.IGNORECASE)
    return None if _NO_GROUP.fullmatch(name) else name
