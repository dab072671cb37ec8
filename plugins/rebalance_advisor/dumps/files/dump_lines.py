"""Lines of a dump with their numbers, without what terminals and loggers mix in between."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from kafka_rebalance.errors import InvalidInputError
from kafka_rebalance.visible_text import excerpt
from rebalance_advisor.dumps.files.terminal_lines import (
    Command,
    as_printed,
    begins_command,
    continues,
    is_log_line,
    is_noise,
    is_thrown,
    without_continuation,
)

LARGEST_ID = 2**31 - 1
LARGEST_LONG = 2**63 - 1
_LOOKED_AT = 4_000  # signs of a line that may be a command: one of JSON may hold a hundred million

# What a tool prints when it gave up: whatever stands before it is only a part.
_FAILURE = re.compile(
    r"\s*(?:Error while executing|Error: Executing|Error occurred:|Exception in thread|Missing required argument"
    r"|Exiting due to: |java\.[\w.]+Exception|Caused by: |org\.apache\.(?:kafka|zookeeper)\.[\w.]+Exception)"
)

_OFFSET_ROW = re.compile(r"[\w.-]+:\d+:\d+$")


@dataclass(frozen=True, slots=True)
class Line:
    """One line without its end; ``place`` is ``file:line``."""

    place: str
    text: str

    def refuse(self, problem: str, hint: str = "") -> InvalidInputError:
        """The error to raise for this line."""
        return InvalidInputError.at(self.place, problem, hint)


def dump_lines(text: str, place: str) -> Iterator[Line]:
    """The lines that a tool printed, blank ones included; commands and noise left out.

    Raises InvalidInputError where the tool reported that it gave up.
    """
    return (line for line in lines_and_commands(text, place) if isinstance(line, Line))


def lines_and_commands(text: str, place: str) -> Iterator[Line | Command]:
    """The lines that a tool printed, blank ones included, and the commands between them; noise left out.

    Raises InvalidInputError where the tool reported that it gave up.
    """
    typed: list[str] = []  # lines of a command that goes on
    begin = 0
    is_in_log = False  # below a log line: the exception that it tells of
    for number, raw in enumerate(as_printed(text).split("\n"), 1):
        line = raw.rstrip("\r")
        if typed:
            typed.append(without_continuation(line))
            if not continues(line):
                yield Command(f"{place}:{begin}", " ".join(typed))
                typed = []
            continue
        # Nearly all lines of the largest dumps: neither noise nor failure.
        if line.startswith("\tTopic: ") or (_OFFSET_ROW.match(line) and not line.startswith(("java.", "org."))):
            yield Line(f"{place}:{number}", line)
            continue
        is_in_log = is_log_line(line) or (is_in_log and (is_noise(line) or is_thrown(line)))
        if is_in_log or is_noise(line):
            continue
        if _FAILURE.match(line):
            raise InvalidInputError.at(
                f"{place}:{number}", f"the tool gave up: {excerpt(line.strip())}", "dump it again, this one is a part"
            )
        if not begins_command(line):
            yield Line(f"{place}:{number}", line)
        elif continues(line):
            typed, begin = [without_continuation(line)], number
        else:
            yield Command(f"{place}:{number}", line)
    if typed:
        raise InvalidInputError.at(f"{place}:{begin}", "is a command that goes on after the end of the file")


def first_printed_line(text: str) -> str:
    """The first line that says something and is neither command nor noise; empty where there is none."""
    typed = False
    for line in as_printed(text).split("\n"):
        if typed or begins_command(line):
            typed = continues(line)
        elif line.strip() and not is_noise(line) and not is_thrown(line):
            return line
    return ""


def without_commands(text: str) -> str:
    """``text`` with blank lines in place of commands and noise, where it begins with one of them; else as it is.

    So a JSON file that was shown with ``cat`` reads as the file itself, and every line keeps its number.
    """
    first = re.search(r"\S", text)
    begin = first.start() if first else 0
    first_line = text[begin : begin + _LOOKED_AT].partition("\n")[0]
    if first_line.startswith(("{", "[{")) or not (begins_command(first_line) or is_noise(first_line)):
        return text
    lines = [""] * (text.count("\n") + 1)
    for line in dump_lines(text, ""):
        lines[int(line.place.removeprefix(":")) - 1] = line.text
    return "\n".join(lines)


def whole_number(text: str, line: Line, what: str, largest: int = LARGEST_ID) -> int:
    """Digits only, at most ``largest``."""
    if not text.isascii() or not text.isdigit() or len(text) > 19 or int(text) > largest:
        raise line.refuse(f"expected {what}, found {excerpt(text)}")
    return int(text)


def broker_list(text: str, line: Line, what: str) -> tuple[int, ...]:
    """``1,2,3``; empty is no broker. Raises where a broker stands twice."""
    brokers = tuple(whole_number(part.strip(), line, f"a broker id in {what}") for part in text.split(",") if text)
    if len(set(brokers)) != len(brokers):
        raise line.refuse(f"a broker stands twice in {what} {excerpt(text)}")
    return brokers
