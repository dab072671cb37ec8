"""Whether a dump of offsets holds start offsets or end offsets: the tool prints the same for both.

Known from the command above the rows (``--time earliest``, ``-2``, ``latest``, ``-1``; without ``--time`` the tool
takes the latest), else by the file's name (``earliest.txt``, ``end-offsets.txt``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePosixPath

from rebalance_advisor.dumps.files.terminal_lines import Command


class Role(StrEnum):
    """What the offsets of a dump are."""

    START = "start"
    END = "end"
    OTHER = "other"  # those at a time, or of another storage tier: neither of the two
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class ToldRole:
    """A role, and whether the command told it (else only a name, or nothing)."""

    role: Role
    by_command: bool = False


_TIMES = {"-1": Role.END, "latest": Role.END, "-2": Role.START, "earliest": Role.START}
_TOOLS = ("kafka-get-offsets", "kafka-get-offsets.sh", "kafka-get-offsets.bat", "GetOffsetShell")
_WORDS = {
    Role.START: frozenset(("earliest", "start", "starts", "beginning", "begin", "oldest")),
    Role.END: frozenset(("latest", "end", "ends", "newest", "high", "hw", "watermark", "watermarks")),
}


def role_of_command(command: Command) -> ToldRole | None:
    """``None`` for a command of another tool."""
    if not command.runs(*_TOOLS):
        return None
    times = command.options("time")
    if not times:
        return None if command.has("time") else ToldRole(Role.END, by_command=True)
    return ToldRole(_TIMES.get(times[-1].lower(), Role.OTHER), by_command=True)


def role_of_name(place: str) -> ToldRole:
    """By the words of the file's name."""
    words = set(re.split(r"[^a-z]+", PurePosixPath(place).name.lower()))
    roles = [role for role, known in _WORDS.items() if words & known]
    return ToldRole(roles[0]) if len(roles) == 1 else ToldRole(Role.UNKNOWN)
